import { beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../client/client.ts'
import { EventStream } from '../client/event-stream.ts'
import {
  terminalStatuses,
  type Execution,
  type Language,
  type Manifest,
  type Page,
  type Process,
} from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { ownTeam } from './own-team.ts'
import { expectProblem } from './problem.ts'
import { awaitEnd, execute, makeProcess, statusesOf } from './runs.ts'
import { shared } from './shared-system.ts'

/** A team whose packages come from the suite's own registries. */
describe.skipIf(!shared.owned)('dependencies', { concurrent: false }, () => {
  let client: Client

  beforeAll(async () => {
    client = (await ownTeam('packages')).client
  })

  const path = (language: Language) => `/dependencies/${language}`
  const read = async (language: Language) => (await client.get<Manifest>(path(language))).body
  const stage = (language: Language, dependencies: Record<string, string>) =>
    client.call<Manifest>('PUT', path(language), { json: { dependencies } })
  const install = (language: Language) => client.post(`${path(language)}/install`)
  const discard = (language: Language) => client.delete<Manifest>(`${path(language)}/install`)
  const make = (sourceCode: string, fields: Record<string, unknown> = {}) =>
    makeProcess({ sourceCode, ...fields }, client)
  const valueOf = async (process: Process) => {
    const answer = await client.post(`/processes/${process.id}/execute-sync`, {})
    expect(answer.status, answer.text.slice(0, 1000)).toBe(203)
    return answer.body
  }
  const installed = (language: Language) =>
    waitUntil(
      `the installation for ${language}`,
      async () => {
        const manifest = await read(language)
        expect(manifest.nextInstallation?.error).toBeUndefined()
        return manifest.nextInstallation === undefined && manifest
      },
      { timeoutMs: 60_000, everyMs: 100 },
    )

  test.for([
    ['JAVASCRIPT', { staged: '^1.2.0' }, "return require('staged').answer()", 42],
    ['PYTHON', { simple: '==1.2.3' }, 'import simple\nreturn simple.answer()', 43],
  ] as const)(
    'of %s are there for runs once they are installed, and not before',
    async ([language, wanted, source, value]) => {
      const process = await make(source, { programmingLanguage: language })
      const stream = await EventStream.at(client, '/events?types=install')
      const staged = await stage(language, wanted)
      expect(staged.status, staged.text).toBe(200)
      expect(staged.body).toEqual({
        id: language,
        programmingLanguage: language,
        dependencies: {},
        nextInstallation: { status: 'PENDING', dependencies: wanted },
      })
      const early = await awaitEnd(await execute(process, {}, client), undefined, client)
      expect(early.status).toBe('ERROR')
      expect((await install(language)).status).toBe(200)
      expect(await installed(language)).toEqual({ id: language, programmingLanguage: language, dependencies: wanted })
      expect(await valueOf(process)).toBe(value)
      await waitUntil('two events', async () => stream.events.length === 2, { timeoutMs: 5000 })
      const told = stream.events.map(({ data }) => [data.type, data.change, data.status, data.language])
      expect(told).toEqual([
        ['install', 'created', 'INSTALLING', language],
        ['install', 'updated', 'INSTALLED', language],
      ])
      stream.leave()
    },
  )

  test('what is staged can be discarded, and nothing else', async () => {
    const before = (await read('JAVASCRIPT')).dependencies
    await stage('JAVASCRIPT', { other: '1' })
    const discarded = await discard('JAVASCRIPT')
    expect(discarded.status, discarded.text).toBe(200)
    expect(discarded.body.dependencies).toEqual(before)
    expect(discarded.body.nextInstallation).toBeUndefined()
    expectProblem(await discard('JAVASCRIPT'), 400, { code: 'nothing_staged' })
    expectProblem(await install('JAVASCRIPT'), 400, { code: 'nothing_staged' })
  })

  test('what can not be installed says why, leaves what is installed, and can be discarded', async () => {
    const { dependencies } = await read('JAVASCRIPT')
    const wanted = { ...dependencies, 'no-such-package': '1.0.0' }
    await stage('JAVASCRIPT', wanted)
    await install('JAVASCRIPT')
    const failed = await waitUntil(
      'the end of the installation',
      async () => {
        const manifest = await read('JAVASCRIPT')
        return manifest.nextInstallation?.status === 'FAILED' && manifest
      },
      { timeoutMs: 60_000, everyMs: 100 },
    )
    expect(failed.dependencies).toEqual(dependencies)
    expect(failed.nextInstallation?.dependencies).toEqual(wanted)
    expect(failed.nextInstallation?.error).toMatch(/no-such-package/)
    expect((await discard('JAVASCRIPT')).body.nextInstallation).toBeUndefined()
    expect(await valueOf(await make("return require('staged').answer()"))).toBe(42)
  })

  test('installations are listed with what came of them, compared, and gone back to', async () => {
    interface Install {
      id: string
      status: string
      requested: object
      resolved: Record<string, string>
      error?: string
      active: boolean
    }
    const installs = `${path('JAVASCRIPT')}/installs`
    const list = async () => (await client.get<Page<Install>>(installs)).body.data
    const [failed, first] = await list()
    expect(failed).toMatchObject({ status: 'FAILED', active: false, error: expect.stringMatching(/no-such-package/) })
    expect(first).toMatchObject({ status: 'INSTALLED', active: true, requested: { staged: '^1.2.0' } })
    expect(Object.keys(first!.resolved)).toEqual(['staged'])
    const log = await client.get<Page<{ message: string }>>(`${installs}/${failed!.id}/logs`)
    expect(JSON.stringify(log.body.data)).toMatch(/no-such-package/)

    await stage('JAVASCRIPT', { first: '*' })
    await install('JAVASCRIPT')
    await installed('JAVASCRIPT')
    const [second] = await list()
    const { body: diff } = await client.get(`${installs}/${first!.id}/diff`, { to: second!.id })
    expect(diff).toEqual({ added: second!.resolved, removed: first!.resolved, changed: {} })

    const rollBack = (installId: string) => client.post<Manifest>(`${path('JAVASCRIPT')}/rollback`, { installId })
    expectProblem(await rollBack(failed!.id), 400, { code: 'install_failed' })
    expectProblem(await rollBack('0198c2a4-7d1e-7f3a-9b52-6a1d0c4e8f21'), 404, { code: 'install_not_found' })
    expect((await rollBack(first!.id)).body.dependencies).toEqual({ staged: '^1.2.0' })
    expect((await list()).filter(({ active }) => active)).toEqual([first])
    expect(await valueOf(await make("return require('staged').answer()"))).toBe(42)
  })

  const detects = { settings: { dependencies: { autoDetect: true } } }

  test.for([
    [
      'JAVASCRIPT',
      "// @add-package pinned@1.2.3\nreturn [require('detected'), require('pinned')].join()",
      'of the source,by a comment',
    ],
    ['PYTHON', 'import detected\nreturn detected.words', 'of the source'],
  ] as const)(
    'that a source of %s names are installed, and a run that starts meanwhile waits and is told',
    async ([language, source, value]) => {
      const process = await make(source, { programmingLanguage: language, ...detects })
      const execution = await awaitEnd(await execute(process, {}, client), 60_000, client)
      expect(execution.status, JSON.stringify(execution.timeline)).toBe('FINISHED')
      expect(statusesOf(execution)).toEqual(['CREATED', 'RUNNING', 'FINISHED'])
      expect(execution.timeline.events[0]?.explanation).toMatch(
        /^Waits for packages that are being installed: .*detected/,
      )
      expect(await valueOf(process)).toBe(value)
      expect((await installed(language)).dependencies).toMatchObject({ detected: '*' })
    },
  )

  test.for([
    ['JAVASCRIPT', "return require('first')"],
    ['PYTHON', 'import first\nreturn first.words'],
  ] as const)(
    'a process of %s that is run right after it was made is CREATED until its packages are there',
    async ([programmingLanguage, source]) => {
      const manifest = { dependencies: { first: programmingLanguage === 'PYTHON' ? '==1.2.3' : '1.2.3' } }
      const settings = { dependencies: { scopedToProcess: true } }
      const process = await make(source, { programmingLanguage, manifest, settings })
      const id = await execute(process, {}, client)
      const seen = new Set<string>()
      const execution = await waitUntil(
        'its end',
        async () => {
          const { body } = await client.get<Execution>(`/executions/${id}`)
          seen.add(body.status)
          return terminalStatuses.includes(body.status) && body
        },
        { timeoutMs: 60_000, everyMs: 20 },
      )
      expect(execution.status, JSON.stringify(execution.timeline)).toBe('FINISHED')
      expect(JSON.parse(execution.returnValue!)).toBe('at once')
      expect([...seen].filter((status) => !['CREATED', 'RUNNING', 'FINISHED'].includes(status))).toEqual([])
      expect(execution.timeline.events[0]?.explanation).toBe('Waits for packages that are being installed: first')
    },
  )

  test('a run that waited for what can not be installed ends as ERROR with the reason', async () => {
    const process = await make("return require('nowhere-to-be-found')", detects)
    const execution = await awaitEnd(await execute(process, {}, client), 60_000, client)
    expect(statusesOf(execution)).toEqual(['CREATED', 'ERROR'])
    expect(execution.timeline.events.at(-1)?.explanation).toMatch(
      /^The packages of the process could not be installed: [^]*nowhere-to-be-found/,
    )
    await discard('JAVASCRIPT')
  })

  test('a module of the team is no package, and comes before one of its name', async () => {
    const made = await client.post('/modules', { name: 'helpers', sourceCode: 'module.exports = "of the team"' })
    expect(made.status, made.text).toBe(201)
    const process = await make("return require('helpers')", detects)
    expect(await valueOf(process)).toBe('of the team')
    expect(await read('JAVASCRIPT')).not.toHaveProperty('nextInstallation')
  })

  test("a process with packages of its own finds these, and not the team's; others do not find them", async () => {
    const fields = { manifest: { dependencies: { own: '1.2.3' } } }
    const find = (name: string) => `try { return require('${name}') } catch { return 'not there' }`
    expect(await valueOf(await make(find('own'), fields))).toBe('of its own')
    expect(await valueOf(await make(find('staged'), fields))).toBe('not there')
    expect(await valueOf(await make(find('own')))).toBe('not there')
  })

  test('installations are in no list of executions', async () => {
    const { body } = await client.get<Page<{ process: { id: string } }>>('/executions', { limit: 1000 })
    expect(body.total).toBeGreaterThan(0)
    expect(JSON.stringify(body)).not.toContain('00000000-0000-0000-0000-000000000000')
  })
})
