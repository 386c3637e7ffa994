import { textOf } from './text-stream.ts'

/** An event of the stream of an execution. */
export type RunEvent = { event: 'status' | 'end'; data: { status: string } } | { event: 'log'; data: LogLine }

export interface LogLine {
  timestamp: string
  level: 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR'
  message: string
}

/** The events of an answer's body of server-sent events; there are no more from the abort of `signal` on. */
export async function* runEvents(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<RunEvent> {
  const reader = textOf(body).getReader()
  const leave = () => void reader.cancel().catch(() => undefined)
  signal.addEventListener('abort', leave)
  if (signal.aborted) leave()
  try {
    let text = ''
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      text += next.value
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const event = eventOf(block)
        if (event !== undefined) yield event
      }
    }
  } finally {
    signal.removeEventListener('abort', leave)
    leave()
  }
}

/** The data of such an event are one line, which only a newline ends: JSON has U+2028 and U+2029 as they are. */
function eventOf(block: string): RunEvent | undefined {
  const lines = block.split('\n')
  const valueOf = (name: string) => lines.find((line) => line.startsWith(name))?.slice(name.length)
  const [event, data] = [valueOf('event: '), valueOf('data: ')]
  const isMeant = event === 'status' || event === 'log' || event === 'end'
  return isMeant && data !== undefined ? ({ event, data: JSON.parse(data) } as RunEvent) : undefined
}
