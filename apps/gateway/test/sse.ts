/** An event of a stream, read as a browser reads it. */
export interface StreamEvent {
  id: string
  event: string
  data: string
}

/** Reads server-sent events by the rules of the HTML standard, from pieces cut anywhere. */
export class StreamReader {
  readonly events: StreamEvent[] = []
  readonly comments: string[] = []
  retryMs: number | undefined
  text = ''
  readonly #decoder = new TextDecoder()
  #rest = ''
  #fields: Partial<StreamEvent> = {}
  #id = ''

  push(bytes: Uint8Array): void {
    const text = this.#decoder.decode(bytes, { stream: true })
    this.text += text
    const lines = (this.#rest + text).split(/\r\n|\n|\r/)
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#line(line)
  }

  /** Reads an answer to its end, or until `enough`. */
  async read(response: Response, enough: () => boolean = () => false): Promise<this> {
    const reader = response.body!.getReader()
    while (!enough()) {
      const { done, value } = await reader.read()
      if (done) return this
      for (const byte of value) this.push(Uint8Array.of(byte))
    }
    await reader.cancel()
    return this
  }

  #line(line: string): void {
    if (line === '') return this.#dispatch()
    const colon = line.indexOf(':')
    if (colon === 0) return void this.comments.push(line.slice(1).trim())
    const [name, value] = colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')]
    if (name === 'data') this.#fields.data = (this.#fields.data === undefined ? '' : `${this.#fields.data}\n`) + value
    else if (name === 'event') this.#fields.event = value
    else if (name === 'id' && !value.includes('\0')) this.#id = value
    else if (name === 'retry') this.retryMs = Number(value)
  }

  #dispatch(): void {
    const { data, event = 'message' } = this.#fields
    this.#fields = {}
    if (data !== undefined) this.events.push({ id: this.#id, event, data })
  }
}
