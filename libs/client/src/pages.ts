import type { Call } from './api.ts'

/** As lists answer. */
export interface Page<T> {
  data: T[]
  hasNextPage: boolean
  /** From 0. */
  page: number
  limit: number
  /** Exact up to 10,000; 10,001 stands for more. */
  total: number
  /** Of lists that are read by it: for the next page. */
  after?: string
}

type Asked = { page?: number; after?: string; limit: number }

/** Items of one answer. */
const usualLimit = 100

/**
 * A list, read page by page as far as it is wanted.
 *
 * @example
 * for await (const { slug } of pas.processes.list({ tags: 'crm' })) console.log(slug)
 * const { total } = await pas.processes.list().page()
 */
export class Pages<T> implements AsyncIterable<T> {
  readonly #get: (asked: Asked) => Call<Page<T>>
  readonly #first: { page?: number; limit?: number; after?: unknown }

  constructor(get: (asked: Asked) => Call<Page<T>>, first: { page?: number; limit?: number; after?: unknown }) {
    this.#get = get
    this.#first = first
  }

  /** One page; the first one, unless a number from 0 or what the page before gave as `after` is given. */
  page(which: { page?: number; after?: string } = {}): Call<Page<T>> {
    const { limit = usualLimit } = this.#first
    if (which.after !== undefined) return this.#get({ after: which.after, page: undefined, limit })
    if (which.page !== undefined) return this.#get({ page: which.page, after: undefined, limit })
    return this.#get({ limit })
  }

  /** All pages from the first on. */
  async *pages(): AsyncGenerator<Page<T>> {
    for (let page = await this.page(); ; page = await this.page(following(page))) {
      yield page
      if (!page.hasNextPage) return
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for await (const { data } of this.pages()) yield* data
  }

  /** All of it, or the first `most`. */
  async toArray(most = Infinity): Promise<T[]> {
    const items: T[] = []
    if (most > 0) for await (const item of this) if (items.push(item) >= most) break
    return items
  }
}

const following = <T>({ page, after }: Page<T>) => (after === undefined ? { page: page + 1 } : { after })
