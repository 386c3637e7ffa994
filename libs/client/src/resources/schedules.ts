import { at, type Api, type Call, type QueryOf } from '../api.ts'
import type * as types from '../generated/types.ts'
import type { Pages } from '../pages.ts'
import type { CallOptions, EditOptions } from '../transport.ts'

/** Schedules: times at which processes run. */
export class Schedules {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  list(query?: QueryOf<'getSchedules'>, options?: CallOptions): Pages<types.Schedule> {
    return this.#api.pages('/schedules', query, options)
  }

  get(id: string, options?: CallOptions): Call<types.Schedule> {
    return this.#api.call('GET', at`/schedules/${id}`, options)
  }

  create(process: string, input: types.ScheduledProcessInput, options?: CallOptions): Call<types.Schedule> {
    return this.#api.call('POST', at`/processes/${process}/schedule`, { ...options, body: input })
  }

  update(id: string, input: types.ScheduledProcessInput, options?: EditOptions): Call<types.Schedule> {
    return this.#api.call('PATCH', at`/schedules/${id}`, { ...options, body: input })
  }

  delete(id: string, options?: EditOptions): Call<void> {
    return this.#api.call('DELETE', at`/schedules/${id}`, options)
  }

  pause(id: string, options?: EditOptions): Call<void> {
    return this.#api.call('PUT', at`/schedules/${id}/pause`, options)
  }

  resume(id: string, options?: EditOptions): Call<void> {
    return this.#api.call('PUT', at`/schedules/${id}/resume`, options)
  }

  /** Starts its run now, beside its times. Is never repeated by itself. */
  run(id: string, options?: CallOptions): Call<types.Execution> {
    return this.#api.call('POST', at`/schedules/${id}/run`, options)
  }

  /** The times that it has fired at, newest first. */
  firings(id: string, query?: QueryOf<'getSchedulesByIdFirings'>, options?: CallOptions): Pages<types.ScheduleFiring> {
    return this.#api.pages(at`/schedules/${id}/firings`, query, options)
  }

  /** The times of all schedules from one instant to another, past and coming. */
  calendar(query: QueryOf<'getSchedulesFirings'>, options?: CallOptions): Call<types.ScheduleFirings> {
    return this.#api.call('GET', '/schedules/firings', { ...options, query })
  }

  /** The next times of a cron expression or a date. */
  preview(input: types.SchedulePreviewInput, options?: CallOptions): Call<types.SchedulePreview> {
    return this.#api.call('POST', '/schedules/preview', { ...options, body: input }, { isRepeatable: true })
  }
}
