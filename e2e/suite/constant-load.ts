/** A call of a webhook of a load. */
export interface LoadCall {
  /** The address of the webhook. */
  url: string
  /** Its caller waits for the run, which gives the number of the call. */
  isAwaited: boolean
}

export interface LoadOptions {
  everyMs: number
  /** The call of this number, from 1. */
  call(number: number): LoadCall
  /** Whether an answer lets its caller come again; without, each is a failure. */
  isRefusal?(answer: Response): boolean
}

/** Calls of webhooks one after the other has begun, at a constant rate. */
export class ConstantLoad {
  readonly failures: string[] = []
  readonly refusals: string[] = []
  /** Of the executions that were accepted. */
  readonly ids: string[] = []
  readonly #options: LoadOptions
  readonly #open = new Set<Promise<void>>()
  readonly #timer: NodeJS.Timeout
  #count = 0

  constructor(options: LoadOptions) {
    this.#options = options
    this.#timer = setInterval(() => {
      const call = this.#call((this.#count += 1)).finally(() => this.#open.delete(call))
      this.#open.add(call)
    }, options.everyMs)
  }

  async #call(number: number): Promise<void> {
    const { url, isAwaited } = this.#options.call(number)
    try {
      const answer = await fetch(`${url}${isAwaited ? '' : '?async=true'}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ number }),
      })
      const text = await answer.text()
      if (this.#options.isRefusal?.(answer) === true) this.refusals.push(text)
      else if (answer.status >= 300) this.failures.push(`${new Date().toISOString()} ${answer.status} ${text}`)
      else this.ids.push(answer.headers.get('svc-execution-id') ?? `none for ${number}`)
      if (isAwaited && answer.status < 300 && text !== `${number}`) this.failures.push(`${number}: ${text}`)
    } catch (error) {
      this.failures.push(String((error as Error).cause ?? error))
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all(this.#open)
  }
}
