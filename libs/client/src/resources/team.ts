import type { Api, Call, QueryOf } from '../api.ts'
import type { EventStreamOptions, StreamEvent } from '../event-stream.ts'
import type * as types from '../generated/types.ts'
import type { CallOptions, EditOptions } from '../transport.ts'

/** What happens in the team; `gap` says that events are missing, which are to be read from the lists. */
export type TeamEvent = StreamEvent<{ id: string; type: string; at: string } & Readonly<Record<string, unknown>>> & {
  event: types.TeamEvent['event']
}

/** The client's team: its settings, its limits, what it uses and what happens in it. */
export class Team {
  readonly slug: string
  readonly #api: Api

  constructor(api: Api, slug: string) {
    this.#api = api
    this.slug = slug
  }

  get(options?: CallOptions): Call<types.Team> {
    return this.#api.call('GET', '/team', options)
  }

  /** Changes what is given and leaves the rest. */
  update(input: types.UpdateTeamInput, options?: EditOptions): Call<types.Team> {
    return this.#api.call('PATCH', '/team', { ...options, body: input })
  }

  /** The teams that the token names. */
  list(options?: CallOptions): Call<types.Team[]> {
    return this.#api.call('GET', '/teams', options)
  }

  /** What the team may have, with what is in use, and the pools that its runs may name. */
  limits(options?: CallOptions): Call<types.Limits> {
    return this.#api.call('GET', '/limits', options)
  }

  /** What its runs took, by process or day. */
  usage(query?: QueryOf<'getUsage'>, options?: CallOptions): Call<types.Usage> {
    return this.#api.call('GET', '/usage', { ...options, query })
  }

  /**
   * What happens from now on, without an end. Goes on behind the last event where the connection is cut; an event may
   * come again then.
   *
   * @example
   * for await (const { event, data } of pas.team.events({ types: ['execution'] })) console.log(event, data.status)
   */
  events(
    { types: names, processId }: { types?: readonly types.TeamEvent['event'][]; processId?: string } = {},
    options?: EventStreamOptions,
  ): AsyncGenerator<TeamEvent> {
    const query = { types: names, processId }
    return this.#api.events('/events', { ...options, query }) as AsyncGenerator<TeamEvent>
  }

  /** Who did what, newest first. */
  auditEvents(query?: QueryOf<'getAuditEvents'>, options?: CallOptions) {
    return this.#api.pages<types.AuditEvent>('/audit-events', query, options)
  }

  /** The values that its runs share, by key. */
  datastore(query?: QueryOf<'getDatastore'>, options?: CallOptions) {
    return this.#api.pages<types.DatastoreEntry>('/datastore', query, options)
  }
}
