import { useContext, useEffect, useState } from 'react'
import { baseOf, call } from '../api/client.ts'
import { LogStore, type LogEntry } from '../rules/log-store.ts'
import { SignInsContext } from '../session/session-context.ts'
import { ReconnectingEvents } from './event-source.ts'

export interface ExecutionLog {
  store: LogStore
  /** `lost`: it was cut, and is tried again by itself. */
  state: 'loading' | 'live' | 'lost' | 'whole' | 'failed'
  error?: Error
  retry: () => void
}

/** How long one batch of lines may take, so that the page stays at hand between them. */
const BATCH_MS = 6
const AT_ONCE = 200

/**
 * The log of an execution: of one that has ended all at once, of others as it comes until their end, while the tab is
 * visible. Lines go into the store in batches, one for each frame.
 */
export function useExecutionLog(team: string, id: string, hasEnded: boolean): ExecutionLog {
  const [followed, setFollowed] = useState({ id, isLive: !hasEnded })
  if (followed.id !== id) setFollowed({ id, isLive: !hasEnded })
  const { isLive } = followed
  const signIns = useContext(SignInsContext)
  const [attempt, setAttempt] = useState(0)
  const retry = () => setAttempt(attempt + 1)
  const [log, setLog] = useState<Omit<ExecutionLog, 'retry'>>(() => ({ store: new LogStore(), state: 'loading' }))
  useEffect(() => {
    const control = new AbortController()
    const store = new LogStore()
    const tell = (state: ExecutionLog['state'], error?: Error) => {
      if (!control.signal.aborted) setLog({ store, state, error })
    }
    tell('loading')
    const address = `${baseOf(team)}/executions/${encodeURIComponent(id)}`
    if (isLive) follow(`${address}/events`, store, control.signal, tell)
    else
      load(`${address}/logs`, store, control.signal).then(
        () => tell('whole'),
        (error: unknown) => tell('failed', error instanceof Error ? error : new Error(String(error))),
      )
    return () => control.abort()
  }, [team, id, isLive, attempt, signIns])
  return { ...log, retry }
}

async function load(address: string, store: LogStore, signal: AbortSignal): Promise<void> {
  const { body } = await call(address, { headers: { Accept: 'application/x-ndjson' }, signal })
  if (body === null) return
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let untilMs = performance.now() + BATCH_MS
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    const lines = (rest + (value ?? '')).split('\n')
    rest = done ? '' : (lines.pop() ?? '')
    for (let next = 0; next < lines.length; next += AT_ONCE) {
      store.append(entriesOf(lines.slice(next, next + AT_ONCE)))
      if (performance.now() < untilMs) continue
      await nextFrame()
      if (signal.aborted) return
      untilMs = performance.now() + BATCH_MS
    }
    if (done) return
  }
}

const entriesOf = (lines: readonly string[]): LogEntry[] =>
  lines.filter((line) => line !== '').map((line) => JSON.parse(line) as LogEntry)

/** The next frame; in a hidden tab, which has none, soon. */
function nextFrame(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, 200)
    requestAnimationFrame(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

function follow(
  address: string,
  store: LogStore,
  signal: AbortSignal,
  tell: (state: ExecutionLog['state']) => void,
): void {
  let entries: LogEntry[] = []
  let isPlanned = false
  let isOver = false
  const flush = () => {
    isPlanned = false
    store.append(entries)
    entries = []
    if (isOver) tell('whole')
  }
  const plan = () => {
    if (isPlanned) return
    isPlanned = true
    void nextFrame().then(flush)
  }
  const events = new ReconnectingEvents(address, {
    onEvent: ({ event, data }) => {
      if (event === 'log') entries.push(JSON.parse(data) as LogEntry)
      isOver ||= event === 'end'
      plan()
    },
    onState: ({ is }) => {
      if (!isOver) tell(is === 'lost' ? 'lost' : is === 'live' ? 'live' : 'loading')
    },
    onGap: () => undefined,
    isLast: ({ event }) => event === 'end',
  })
  const openWhereSeen = () => {
    if (isOver) return
    if (document.visibilityState === 'visible') events.open()
    else events.close()
  }
  openWhereSeen()
  document.addEventListener('visibilitychange', openWhereSeen, { signal })
  const reopenWhereSeen = () => {
    if (!isOver && document.visibilityState === 'visible') events.reopen()
  }
  window.addEventListener('online', reopenWhereSeen, { signal })
  signal.addEventListener('abort', () => events.close())
}
