import { useEffect, useState } from 'react'
import type { LogStore } from '../rules/log-store.ts'

/** A long log is drawn anew this rarely while it grows, as each time all of its lines are counted. */
const SPACING_MS = 100

/** How many lines a log has, followed at the pace of what can be seen. */
export function useStoreSize(store: LogStore): number {
  const [known, setKnown] = useState({ store, size: store.size })
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let frame = 0
    const tell = () => {
      timer = undefined
      frame = requestAnimationFrame(() => setKnown({ store, size: store.size }))
    }
    tell()
    const leave = store.subscribe(() => (timer ??= setTimeout(tell, store.size < 5000 ? 0 : SPACING_MS)))
    return () => {
      leave()
      clearTimeout(timer)
      cancelAnimationFrame(frame)
    }
  }, [store])
  return known.store === store ? known.size : 0
}
