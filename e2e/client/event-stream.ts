import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from './client.ts'

/** A server-sent event; its data is read as JSON. */
export interface StreamEvent {
  id: string
  event: string
  data: {
    status?: string
    explanation?: string
    level?: string
    message?: string
    timestamp?: string
    id?: string
    returnValue?: string
    type?: string
    change?: string
    processId?: string
    language?: string
  }
}

/** A live stream of an execution or a team, read by the rules of the HTML standard from pieces cut anywhere. */
export class EventStream {
  readonly events: StreamEvent[] = []
  readonly comments: string[] = []
  readonly response: Response
  /** Once it is over; false when it was cut. */
  readonly closed: Promise<boolean>
  readonly #leave: AbortController
  #rest = ''
  #fields: { event?: string; data?: string } = {}
  #id = ''

  private constructor(response: Response, leave: AbortController) {
    this.response = response
    this.#leave = leave
    this.closed = this.#read(response).then(
      () => true,
      () => false, // a cut is one of the ends that tests ask about
    )
  }

  static open(client: Client, executionId: string, lastEventId?: string): Promise<EventStream> {
    return EventStream.at(client, `/executions/${executionId}/events`, lastEventId)
  }

  /** That at a path below `{base_url}`. */
  static async at(client: Client, path: string, lastEventId?: string): Promise<EventStream> {
    const leave = new AbortController()
    const headers: Record<string, string> = { authorization: `Bearer ${client.address.accessToken}` }
    if (lastEventId !== undefined) headers['last-event-id'] = lastEventId
    return new EventStream(await fetch(`${client.rest}${path}`, { headers, signal: leave.signal }), leave)
  }

  leave(): void {
    this.#leave.abort()
  }

  /** What was told, in short: `RUNNING`, `log text`, `end`. */
  get summary(): string[] {
    return this.events.map(({ event, data }) =>
      event === 'status' ? (data.status ?? '') : event === 'log' ? `log ${data.message}` : event,
    )
  }

  /** Waits until it was told this. */
  async has(one: string, timeoutMs = 30_000): Promise<void> {
    for (const end = performance.now() + timeoutMs; !this.summary.includes(one); await delay(10))
      if (performance.now() > end) throw new Error(`Not told of ${one}, but of: ${this.summary.slice(-20).join(', ')}`)
  }

  async #read(response: Response): Promise<void> {
    const decoder = new TextDecoder()
    for await (const bytes of response.body!)
      for (let at = 0; at < bytes.length; at += 7)
        this.#push(decoder.decode(bytes.subarray(at, at + 7), { stream: true }))
  }

  #push(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#line(line)
  }

  #line(line: string): void {
    if (line === '') {
      const { event = 'message', data } = this.#fields
      if (data !== undefined) this.events.push({ id: this.#id, event, data: JSON.parse(data) as StreamEvent['data'] })
      this.#fields = {}
      return
    }
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
    if (name === '') this.comments.push(value)
    else if (name === 'id') this.#id = value
    else if (name === 'event' || name === 'data') this.#fields[name] = value
  }
}
