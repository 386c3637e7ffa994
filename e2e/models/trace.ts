import { Client } from '../client/client.ts'
import type { Address, Answer, CallOptions } from '../client/client.ts'

interface Call {
  method: string
  path: string
  json: unknown
  headers: Record<string, string> | undefined
  answer: string
  times: number
}

/** What was asked and answered, for a reader who wants to do it again. Ids get the names that `name` gives them. */
export class Trace {
  #lines: (string | Call)[] = []
  readonly #names = new Map<string, string>()

  /** How many notes there are. */
  steps = 0

  /** A line of its own: what the next calls are for. */
  note(words: string): void {
    this.steps += 1
    this.#lines.push(`# ${words}`)
  }

  /** Gives an id a name, as it is known from here on. */
  name(id: string, name: string): void {
    this.#names.set(id, `$${name}`)
  }

  /** A call that is answered as the one before it was is only counted. */
  record(method: string, path: string, { json, headers }: CallOptions, { status, text }: Answer): void {
    const call: Call = { method, path, json, headers, answer: `${status} ${text}`, times: 1 }
    const last = this.#lines.at(-1)
    if (typeof last === 'object' && last.method === method && last.path === path && last.answer === call.answer)
      last.times += 1
    else this.#lines.push(call)
  }

  /** As lines for a shell, each with its answer below. */
  toString(): string {
    const text = this.#lines.map((line) => (typeof line === 'string' ? line : shown(line))).join('\n')
    return [...this.#names].reduce((sum, [id, name]) => sum.replaceAll(id, name), text)
  }
}

function shown({ method, path, json, headers, answer, times }: Call): string {
  const options = Object.entries(headers ?? {}).map(([name, value]) => ` -H '${name}: ${value}'`)
  const body = json === undefined ? '' : ` --json '${JSON.stringify(json).replaceAll("'", `'\\''`)}'`
  const count = times === 1 ? '' : `   # ${times} times`
  const short = answer.length > 600 ? `${answer.slice(0, 600)}…` : answer
  return `curl -X ${method} "$REST${path}"${options.join('')}${body}${count}\n  → ${short}`
}

/** A client that writes all it does into a trace. */
export class TracedClient extends Client {
  readonly trace: Trace

  constructor(address: Address, trace: Trace) {
    super(address)
    this.trace = trace
  }

  override async call<T>(method: string, path: string, options: CallOptions = {}): Promise<Answer<T>> {
    const answer = await super.call<T>(method, path, options)
    this.trace.record(method, `${path}${queryOf(options)}`, options, answer)
    return answer
  }
}

function queryOf({ query }: CallOptions): string {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined)
  return given.length === 0 ? '' : `?${given.map(([name, value]) => `${name}=${String(value)}`).join('&')}`
}
