import type { Schedule } from '@automation/contract/schedule/v1/schedule'
import { ScheduleEffectService, ScheduleService } from '@automation/contract/schedule/v1/schedule'
import { InProcessNetwork, type Client } from '@automation/rpc'
import { Environment, type Part } from '@automation/service'
import { AuditBook, testContext, testDatabase, userContext, type TestDatabase } from '@automation/testing'
import type { Tracer } from '@automation/tracing'
import type { DescService } from '@bufbuild/protobuf'
import pg from 'pg'
import { test } from 'vitest'
import { createScheduler, readSchedulerConfig, schedulerSchema } from '../src/service.ts'
import { ScriptedExecutions } from './scripted-executions.ts'
import { ScriptedReferences } from './scripted-references.ts'

export interface Replica {
  part: Part
  schedules: Client<typeof ScheduleService>
  effects: Client<typeof ScheduleEffectService>
  /** What `/metrics` tells. */
  metrics(): Promise<string>
  client<S extends DescService>(service: S): Client<S>
}

export type NewSchedule = Parameters<Replica['schedules']['createSchedule']>[0]

/** Whose schedules these are. */
export const demo = userContext('demo', { initiatedBy: 'an app' })
export const everySecond = '* * * * * *'
/** States of firings. */
export const [waiting, started, skipped] = [2, 3, 4]
/** A time of a schedule, so many ms from now. */
export const soon = (ms: number) => ({ text: new Date(Date.now() + ms).toISOString() })

export interface KeptFiring {
  nominal: Date
  state: number
  explanation: string | null
  executionId: string | null
}

/** Replicas of the scheduler on a database of their own. */
export class SchedulerUnderTest {
  readonly executions = new ScriptedExecutions()
  readonly references = new ScriptedReferences()
  /** What it tells the catalog. */
  readonly audit = new AuditBook()
  readonly sql: pg.Pool
  readonly database: TestDatabase
  readonly #replicas: Replica[] = []

  private constructor(database: TestDatabase) {
    this.database = database
    this.sql = new pg.Pool({ connectionString: database.url, options: '-c search_path=scheduler', max: 2 })
    this.sql.on('error', () => undefined)
  }

  static async open(replicas = 1, settings: Record<string, string> = {}): Promise<SchedulerUnderTest> {
    const system = new SchedulerUnderTest(await testDatabase(schedulerSchema))
    for (let count = 0; count < replicas; count += 1) await system.replica(undefined, settings)
    return system
  }

  async replica(tracer?: Tracer, settings: Record<string, string> = {}): Promise<Replica> {
    const network = new InProcessNetwork()
    network.add([this.executions.service, this.references.service, this.audit.service])
    const env = new Environment({ DATABASE_URL: this.database.url, ...settings })
    const context = { ...testContext(network), tracer }
    const part = createScheduler(readSchedulerConfig(env), context)
    network.add(part.serves)
    const replica = {
      part,
      schedules: network.client(ScheduleService),
      effects: network.client(ScheduleEffectService),
      metrics: () => context.metrics.metrics(),
      client: <S extends DescService>(service: S) => network.client(service),
    }
    this.#replicas.push(replica)
    await part.start()
    return replica
  }

  get schedules(): Client<typeof ScheduleService> {
    return this.#replicas[0]!.schedules
  }

  get effects(): Client<typeof ScheduleEffectService> {
    return this.#replicas[0]!.effects
  }

  client<S extends DescService>(service: S): Client<S> {
    return this.#replicas[0]!.client(service)
  }

  metrics(): Promise<string> {
    return this.#replicas[0]!.metrics()
  }

  /** Makes a schedule of the process `report`; gives its id. */
  async schedule(init: NewSchedule): Promise<string> {
    const { id } = await this.schedules.createSchedule({ process: 'report', ...init }, demo)
    return id
  }

  /** Seconds since 1970 of the nominal times that have started a run. */
  nominals(id: string): number[] {
    return this.executions.of(id).map(({ request }) => Number(request.nominalTimeMs) / 1000)
  }

  get(id: string, team = 'demo'): Promise<Schedule> {
    return this.schedules.getSchedule({ id }, userContext(team))
  }

  /** So many more schedules like this one, but for what `change` says, jsonb in SQL of a number `n`; live streams hear of none. */
  async copies(id: string, count: number, change = "'{}'"): Promise<void> {
    // Noting each is most of what a row costs.
    await this.sql.query('ALTER TABLE schedules DISABLE TRIGGER USER')
    await this.sql.query(
      `INSERT INTO schedules
       SELECT (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid()) || ${change})).*
         FROM schedules s, generate_series(1, $2) n WHERE s.id = $1`,
      [id, count],
    )
    await this.sql.query('ALTER TABLE schedules ENABLE TRIGGER USER')
  }

  /** What became of the nominal times of a schedule, in their order. */
  async firings(id: string): Promise<KeptFiring[]> {
    const { rows } = await this.sql.query<KeptFiring>(
      `SELECT nominal_at AS nominal, state, explanation, execution_id AS "executionId" FROM firings
       WHERE schedule_id = $1 ORDER BY nominal_at`,
      [id],
    )
    return rows
  }

  /** As though the schedule's next time had come so long ago, and nobody had been there. */
  async missedFor(id: string, ms: number, roundToS = 1): Promise<void> {
    await this.sql.query(
      `UPDATE schedules SET next_at = to_timestamp(floor(extract(epoch FROM now() - $2 * interval '1 ms') / $3) * $3) WHERE id = $1`,
      [id, ms, roundToS],
    )
  }

  async stopReplicas(): Promise<void> {
    await Promise.all(this.#replicas.splice(0).map(({ part }) => part.stop(0)))
  }

  async close(): Promise<void> {
    await this.stopReplicas()
    await this.sql.end()
    await this.database.drop()
  }
}

/**
 * A test with a scheduler of its own, which knows the process `report`: such tests wait for seconds to come, so they may run
 * side by side.
 */
export const schedulerTest = test.extend<{ system: SchedulerUnderTest }>({
  system: async ({ task: _ }, use) => {
    const system = await SchedulerUnderTest.open()
    system.executions.process('report')
    await use(system)
    await system.close()
  },
})
