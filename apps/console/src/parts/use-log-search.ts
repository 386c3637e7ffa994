import { useEffect, useRef, useState } from 'react'
import type { LogStore } from '../rules/log-store.ts'
import type { SearchAnswer, SearchRequest } from './log-search.worker.ts'

/** How many lines go to the worker at once, so that copying them is felt by nobody. */
const AT_ONCE = 5000

const NONE = new Uint32Array()

/** The lines of a log that contain a text, found in a worker, which begins with the first search. */
export function useLogSearch(store: LogStore, wanted: string): Uint32Array {
  const [answer, setAnswer] = useState<SearchAnswer>()
  const isUsed = wanted !== ''
  const worker = useRef<Worker>(undefined)

  useEffect(() => {
    if (!isUsed) return undefined
    const started = new Worker(new URL('log-search.worker.ts', import.meta.url), { type: 'module' })
    worker.current = started
    started.addEventListener('message', ({ data }: MessageEvent<SearchAnswer>) => setAnswer(data))
    let sent = 0
    let timer: ReturnType<typeof setTimeout> | undefined
    const send = () => {
      timer = undefined
      const to = Math.min(sent + AT_ONCE, store.size)
      if (to === sent) return
      started.postMessage({ lines: store.texts(sent, to) } satisfies SearchRequest)
      sent = to
      timer = setTimeout(send)
    }
    send()
    const leave = store.subscribe(() => (timer ??= setTimeout(send, 50)))
    return () => {
      leave()
      clearTimeout(timer)
      started.terminate()
      worker.current = undefined
    }
  }, [store, isUsed])

  useEffect(() => {
    worker.current?.postMessage({ wanted } satisfies SearchRequest)
  }, [wanted, store, isUsed])

  return answer !== undefined && answer.wanted === wanted && isUsed ? answer.matches : NONE
}
