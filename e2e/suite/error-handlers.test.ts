import { beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../client/client.ts'
import type { Process, Team } from '../client/records.ts'
import { handled, inputOf, runsOf, type HandlerInput } from './handler-runs.ts'
import { ownTeam } from './own-team.ts'
import { expectProblem } from './problem.ts'
import { awaitEnd, awaitLogs, awaitStatus, execute, logsOf, makeProcess } from './runs.ts'
import { awaitEnded, inMs, makeSchedule } from './scheduling.ts'
import { shared } from './shared-system.ts'

const languages = {
  JAVASCRIPT: {
    fails: 'console.log("before")\nthrow new TypeError("wrong: " + svc.env.TOKEN)',
    frame: /\.js:2:\d+/,
    tells: 'return svc.context.parameters',
  },
  PYTHON: {
    fails: 'print("before")\nraise TypeError("wrong: " + svc.env["TOKEN"])',
    frame: /line 2/,
    tells: 'return svc.context.parameters',
  },
} as const
type Language = keyof typeof languages

describe.skipIf(!shared.owned)('error handlers', { concurrent: false }, () => {
  let team: Client
  const by = () => team
  beforeAll(async () => {
    team = (await ownTeam('handlers')).client
  })

  const patch = (errorHandlerConfig: unknown) => by().patch<Team>('/team', { errorHandlerConfig })
  const handleWith = async (processSlug: string, tag?: string) => {
    const answer = await patch({ processSlug, tag: tag ?? null })
    expect(answer.status, answer.text).toBe(200)
    expect(answer.body.errorHandlerConfig).toEqual(tag === undefined ? { processSlug } : { processSlug, tag })
  }
  const make = (programmingLanguage: Language, what: 'fails' | 'tells') =>
    makeProcess({ programmingLanguage, sourceCode: languages[programmingLanguage][what] }, by())
  const fail = async (process: Process, input: Record<string, unknown> = {}) => {
    const id = await execute(process, input, by())
    expect((await awaitEnd(id, undefined, by())).status).toBe('ERROR')
    return id
  }

  test.for([
    ['JAVASCRIPT', 'PYTHON'],
    ['PYTHON', 'JAVASCRIPT'],
  ] as const)(
    'a run in %s that fails has the handler in %s run, once, and told of all',
    async ([failing, handling]) => {
      await by().post('/variables', { key: 'TOKEN', value: 'top-secret-4711', isSensitive: true })
      const process = await make(failing, 'fails')
      const handler = await make(handling, 'tells')
      await handleWith(handler.slug)
      const id = await fail(process, { parameters: { n: 1, list: ['ü'] }, comment: 'by hand' })
      const [run, ...more] = await handled(handler, id, by())
      expect(more).toEqual([])
      expect(run).toMatchObject({ status: 'FINISHED', createdBy: 'system' })
      const input = JSON.parse(run?.returnValue ?? '') as HandlerInput
      expect(input.execution).toEqual({
        id,
        comment: 'by hand',
        parameters: { n: 1, list: ['ü'] },
        process: { id: process.id, name: process.name },
      })
      expect(input.error.message).toBe('TypeError: wrong: ******')
      expect(input.error.stacktrace).toMatch(languages[failing].frame)
      expect(input.error.stacktrace).toContain('wrong: ******')
      expect(JSON.stringify([run, input])).not.toContain('top-secret-4711')
    },
  )

  test('it is told of the schedule of a run that had one', async () => {
    const process = await make('JAVASCRIPT', 'fails')
    const handler = await make('PYTHON', 'tells')
    await handleWith(handler.slug)
    const schedule = await makeSchedule(process, { dateTime: inMs(2500), input: { comment: 'nightly' } }, by())
    const [first] = await awaitEnded(schedule, 1, by())
    const [run] = await handled(handler, first!.id, by())
    const input = JSON.parse(run?.returnValue ?? '') as HandlerInput
    expect(input.execution.schedule).toEqual({ id: schedule.id, comment: 'nightly' })
  })

  test('a run that takes too long has one; killed and finished ones have none', async () => {
    const handler = await make('JAVASCRIPT', 'tells')
    await handleWith(handler.slug)
    const sleeper = await makeProcess({ sourceCode: 'await new Promise((done) => setTimeout(done, 20_000))' }, by())
    const killed = await execute(sleeper, {}, by())
    await awaitStatus(killed, ({ status }) => status === 'RUNNING', undefined, by())
    expect((await by().put(`/executions/${killed}/kill`)).status).toBe(202)
    await execute(handler, {}, by())
    const late = await fail(sleeper, { settings: { timeout: 200 } })
    const [run] = await handled(handler, late, by())
    const input = JSON.parse(run?.returnValue ?? '') as HandlerInput
    expect(input.error.message).toMatch(/^TimeoutError: /)
    expect(input.execution.comment).toBeNull()
    const runs = await runsOf(handler, by())
    expect(runs.map((one) => inputOf(one).execution?.id)).toEqual([undefined, late])
  })

  test('a team that has none names its process', async () => {
    const { client: other } = await ownTeam('handlerless')
    for (const errorHandlerConfig of [{}, { processSlug: null }, { tag: null }, { tag: 'v1' }]) {
      const problem = expectProblem(await other.patch('/team', { errorHandlerConfig }), 400)
      expect(problem.errors).toEqual([{ path: '/errorHandlerConfig/processSlug', message: 'is required' }])
    }
    await makeProcess({ name: 'mends' }, other)
    await other.patch('/team', { errorHandlerConfig: { processSlug: 'mends' } })
    expect((await other.patch('/team', { errorHandlerConfig: {} })).status).toBe(200)
  })

  test('it is the version of the tag; where that is gone, the log of the run says why nothing started', async () => {
    const process = await make('JAVASCRIPT', 'fails')
    const handler = await make('JAVASCRIPT', 'tells')
    const { body: version } = await by().post<{ id: string }>(`/processes/${handler.id}/versions`, { tag: 'v1' })
    await handleWith(handler.slug, 'v1')
    const first = await fail(process)
    expect((await handled(handler, first, by()))[0]).toMatchObject({ versionId: version.id, status: 'FINISHED' })
    expect((await by().delete(`/processes/${handler.id}`)).status).toBeLessThan(300)
    const second = await fail(process)
    const said = await awaitLogs(second, (entries) => entries.some(({ level }) => level === 'WARNING'), by())
    expect(said.at(-1)?.message).toBe(
      `The error handler ${handler.slug} (v1) was not started: Process not found: there is no process "${handler.slug}"`,
    )
    expect((await by().get<Team>('/team')).body.errorHandlerConfig).toEqual({ processSlug: handler.slug, tag: 'v1' })
    expect((await patch(null)).body).not.toHaveProperty('errorHandlerConfig')
    const third = await fail(process)
    expect((await logsOf(third, by())).filter(({ level }) => level === 'WARNING')).toEqual([])
  })
})
