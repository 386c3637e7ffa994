import { at, type Api, type Call } from '../api.ts'
import type * as types from '../generated/types.ts'
import { newKey } from '../retries.ts'
import { Run } from '../run.ts'
import type { CallOptions, RequestOptions } from '../transport.ts'

export interface FormOptions extends CallOptions {
  /** That of a public form, for who has nothing else. */
  formToken?: string
}

/** Forms of processes, made of their parameters. */
export class Forms {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  get(slug: string, { formToken, ...options }: FormOptions = {}): Call<types.Form> {
    return this.#api.call('GET', at`/forms/${slug}`, { ...options, below: 'team', query: { token: formToken } })
  }

  /** Starts the process with what was filled in: as JSON, or with files as FormData. */
  async submit(
    slug: string,
    values: FormData | Readonly<Record<string, unknown>>,
    options: FormOptions & { idempotencyKey?: string } = {},
  ): Promise<Run> {
    const { executionId } = await this.#posted<types.ExecutionId>(slug, values, options)
    return new Run(this.#api, executionId, { signal: options.signal })
  }

  /** The same, and waits for what the process returns, as long as the service does. */
  submitSync<T = unknown>(
    slug: string,
    values: FormData | Readonly<Record<string, unknown>>,
    options: FormOptions & { idempotencyKey?: string } = {},
  ): Call<T> {
    return this.#posted<T>(slug, values, options, true)
  }

  #posted<T>(
    slug: string,
    values: FormData | Readonly<Record<string, unknown>>,
    { formToken, idempotencyKey = newKey, ...options }: FormOptions & Pick<RequestOptions, 'idempotencyKey'>,
    wait?: boolean,
  ): Call<T> {
    const body = values instanceof FormData ? { rawBody: values } : { body: values }
    const query = { token: formToken, wait }
    const request = { ...options, ...body, idempotencyKey, below: 'team', query } as const
    return this.#api.call('POST', at`/forms/${slug}`, request, { waitsForRun: wait })
  }
}
