import type { InfiniteData, QueryClient } from '@tanstack/react-query'
import type { Schemas } from '../api/client.ts'
import { executionKeys, type Execution, type ExecutionFilters } from '../api/queries/executions.ts'
import { isEnd, withNews } from '../rules/executions.ts'
import type { TeamEventType } from './team-stream.ts'

type Page = Schemas['ExecutionsPaginatedResult']

/** How soon queries follow the first event, and how far apart they are asked again while events go on. */
const SOON_MS = 60
const APART_MS = 1000

/** Which queries of a team an event makes old, by the second word of their keys. */
const resources: Record<Exclude<TeamEventType, 'execution'>, string[]> = {
  process: ['processes', 'process', 'versions', 'aliases', 'home'],
  schedule: ['schedules', 'home'],
  sandbox: ['sandboxes', 'limits'],
  install: ['dependencies', 'installs'],
}

/** Of these only what is counted or summed up changes with each execution. */
const SUMS = /summar|statistic|usage|deliver|home|limits|firings/

/** Brings what happens in a team into the queries: executions by patches at once, all else by asking again. */
export class EventApplier {
  readonly #queries: QueryClient
  readonly #team: string
  readonly #news = new Map<string, Execution>()
  readonly #old = new Set<string>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #askedMs = 0

  constructor(queries: QueryClient, team: string) {
    this.#queries = queries
    this.#team = team
  }

  execution(record: Execution): void {
    this.#news.set(record.id, record)
    this.#plan()
  }

  other(type: Exclude<TeamEventType, 'execution'>): void {
    for (const resource of resources[type]) this.#old.add(resource)
    this.#plan()
  }

  /** Events are missing: everything is asked again. */
  gap(): void {
    void this.#queries.invalidateQueries({ queryKey: [this.#team] })
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #plan(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#apply()
    }, SOON_MS)
  }

  #apply(): void {
    for (const record of this.#news.values()) this.#patchOne(record)
    if (this.#news.size > 0) this.#patchLists(new Map(this.#news))
    const hadNews = this.#news.size > 0
    this.#news.clear()
    if (hadNews) this.#old.add('sums')
    this.#ask()
  }

  #patchOne(record: Execution): void {
    const key = executionKeys.one(this.#team, record.id)
    this.#queries.setQueryData<Execution>(key, (known) => known && withNews(known, record))
    // An answer that is under way may be older than the news.
    if (isEnd(record.status) || this.#queries.isFetching({ queryKey: key, exact: true }) > 0)
      void this.#queries.invalidateQueries({ queryKey: key, exact: true })
    void this.#queries.invalidateQueries({ queryKey: executionKeys.part(this.#team, record.id, 'waiting') })
    if (record.parentId === undefined) return
    void this.#queries.invalidateQueries({ queryKey: executionKeys.part(this.#team, record.parentId, 'children') })
  }

  #patchLists(news: ReadonlyMap<string, Execution>): void {
    const lists = this.#queries.getQueriesData<InfiniteData<Page>>({ queryKey: executionKeys.lists(this.#team) })
    for (const [key, list] of lists) {
      if (list === undefined) continue
      // Of what lists are filtered by, the status alone changes.
      const { status } = key[3] as ExecutionFilters
      const patch = (row: Execution): Execution[] => {
        const record = news.get(row.id)
        if (record === undefined) return [row]
        const merged = withNews(row, record)
        return status?.includes(merged.status) === false ? [] : [merged]
      }
      const pages = list.pages.map((page) =>
        page.data.some(({ id }) => news.has(id)) ? { ...page, data: page.data.flatMap(patch) } : page,
      )
      this.#queries.setQueryData<InfiniteData<Page>>(key, { ...list, pages })
      if (pages.at(-1)?.hasNextPage && pages.every(({ data }) => data.length === 0)) this.#old.add('lists')
    }
    if (this.#queries.isFetching({ queryKey: executionKeys.lists(this.#team) }) > 0) this.#old.add('lists')
  }

  /** Asks again for what is old, at once after a pause, and with pauses while much happens. */
  #ask(): void {
    if (this.#old.size === 0) return
    const restMs = this.#askedMs + APART_MS - Date.now()
    if (restMs > 0) {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined
        this.#apply()
      }, restMs)
      return
    }
    this.#askedMs = Date.now()
    const old = new Set(this.#old)
    this.#old.clear()
    void this.#queries.invalidateQueries({
      queryKey: [this.#team],
      predicate: ({ queryKey }) =>
        old.has(String(queryKey[1])) ||
        (old.has('sums') && isSum(queryKey)) ||
        (old.has('lists') && queryKey[1] === 'executions' && queryKey[2] === 'list'),
    })
  }
}

const isSum = (queryKey: readonly unknown[]): boolean =>
  queryKey.slice(1, 4).some((word) => typeof word === 'string' && SUMS.test(word))
