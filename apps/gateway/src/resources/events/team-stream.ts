import type { WatchTeamResponse } from '@automation/contract/execution/v1/team_event'
import { presentTime } from '../../rest/time.ts'
import { jsonText } from '../../http/json.ts'
import { writtenOnce } from '../../streams/live-streams.ts'
import type { ChangeReader, Positions, Source, Delivered } from '../../streams/team-changes.ts'
import type { TeamChange } from '@automation/contract/common/v1/change'
import { presentExecution } from '../executions/record.ts'
import { none, positionText } from './position.ts'

interface TeamStreamOptions {
  /** Undefined where executions are not followed. */
  executions: AsyncIterator<WatchTeamResponse> | undefined
  /** Undefined where nothing else is followed. */
  changes: ChangeReader | undefined
  /** Whether a change is wanted. */
  wants: (change: TeamChange) => boolean
  /** The position of executions that the reader has come with, or begins at; empty where execution names none. */
  execution: string
  /** That executions may be missing, from then on; Unix time in ms. */
  gapSinceMs: number | undefined
  signal: AbortSignal
}

/** The events of a team from execution and from the services that tell of changes, as they come. */
export class TeamStream {
  readonly #options: TeamStreamOptions
  readonly #beganMs = Date.now()
  readonly #positions: Partial<Record<Source, bigint>>
  #execution: string
  #event: WatchTeamResponse | undefined
  #asked = false
  #ended: { error: unknown } | 'ended' | undefined
  #wake: (() => void) | undefined

  constructor(options: TeamStreamOptions) {
    this.#options = options
    this.#execution = options.execution
    this.#positions = { ...options.changes?.positions }
    options.signal.addEventListener('abort', () => this.#end('ended'), { once: true })
  }

  /** There may be something to take. */
  wake(): void {
    this.#wake?.()
  }

  /** Until the signal is aborted, or execution ends. */
  async *events(): AsyncGenerator<Uint8Array, void, undefined> {
    const { changes, gapSinceMs } = this.#options
    if (gapSinceMs !== undefined) yield this.#framed(gapText(0, gapSinceMs))
    for (;;) {
      const delivered = changes?.take()
      const event = this.#event
      this.#event = undefined
      if (delivered !== undefined) yield* this.#change(delivered)
      if (event !== undefined) yield this.#executed(event)
      if (delivered !== undefined || event !== undefined) continue
      if (this.#ended === 'ended') return
      if (this.#ended !== undefined) throw this.#ended.error
      this.#ask()
      await new Promise<void>((resolve) => (this.#wake = resolve))
      this.#wake = undefined
    }
  }

  *#change(delivered: Delivered): Generator<Uint8Array> {
    this.#positions[delivered.source] = delivered.number
    if ('missed' in delivered) yield this.#framed(gapText(delivered.missed, delivered.sinceMs))
    else if (this.#options.wants(delivered.change)) yield this.#framed(changeText(delivered.change))
  }

  #executed(event: WatchTeamResponse): Uint8Array {
    // Where it stands nowhere, the reader keeps what it has.
    if (event.position !== '') this.#execution = event.position
    return this.#framed(executionText(event))
  }

  #framed(body: Uint8Array): Uint8Array {
    const { executions, changes } = this.#options
    const execution = executions === undefined ? undefined : this.#execution || none
    const sinceMs = Math.min(changes?.sinceMs() ?? Infinity, execution === none ? this.#beganMs : Infinity)
    const id = positionText({ execution, changes: this.#positions as Positions, sinceMs })
    return id === '' ? body : Buffer.concat([Buffer.from(`id: ${id}\n`), body])
  }

  /** At most one is under way. */
  #ask(): void {
    const { executions } = this.#options
    if (executions === undefined || this.#asked) return
    this.#asked = true
    const arrived = (result: IteratorResult<WatchTeamResponse>) => {
      this.#asked = false
      if (result.done === true) return this.#end('ended')
      this.#event = result.value
      this.wake()
    }
    void executions.next().then(arrived, (error: unknown) => this.#end({ error }))
  }

  #end(how: { error: unknown } | 'ended'): void {
    this.#ended ??= how
    this.wake()
  }
}

function gapText(missed: number, sinceMs: number): Uint8Array {
  const data = { missed, since: new Date(sinceMs).toISOString() }
  return Buffer.from(`event: gap\ndata: ${JSON.stringify(data)}\n\n`)
}

const changeText = writtenOnce(({ type, id, at, change, processId, status, language }: TeamChange) => {
  const words = { status: status || undefined, language: language || undefined, processId: processId || undefined }
  return `event: ${type}\ndata: ${JSON.stringify({ id, type, at: presentTime(at), change, ...words })}\n\n`
})

const executionText = writtenOnce(({ time, event }: WatchTeamResponse): string => {
  if (event.case === 'gap') {
    const { missed, since } = event.value
    return `event: gap\ndata: ${JSON.stringify({ missed, since: presentTime(since) })}\n\n`
  }
  if (event.case !== 'execution') return ''
  const { id: executionId, ...record } = presentExecution(event.value)
  const data = jsonText({ id: executionId, type: 'execution', at: presentTime(time), ...record })
  // Line ends stand between the words of parameters as they were written, and nowhere else.
  return `event: execution\ndata: ${data.replaceAll(/[\r\n]/g, ' ')}\n\n`
})
