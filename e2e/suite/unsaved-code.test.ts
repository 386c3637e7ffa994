import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Execution, LogEntry, Page, Process } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { expectProblem } from './problem.ts'
import { awaitEnd, executeSync, makeGate, makeProcess } from './runs.ts'
import { client, shared, unique } from './shared-system.ts'

describe('checking a source', () => {
  const check = (programmingLanguage: string, sourceCode: unknown) =>
    client.post('/sources/check', { programmingLanguage, sourceCode })

  test('says where its syntax is broken, and what its imports lead to', async () => {
    const name = unique()
    await client.post('/modules', { name, sourceCode: 'exports.a = 1' })
    const sourceCode = `import fs from 'node:fs'\nimport own from '${name}'\nimport 'absent-${name}'\nreturn 1`
    const good = await check('JAVASCRIPT', sourceCode)
    expect(good.status, good.text).toBe(200)
    expect(good.body).toEqual({
      ok: true,
      faults: [],
      imports: [
        { name: 'node:fs', kind: 'builtin' },
        { name, kind: 'module' },
        { name: `absent-${name}`, kind: 'missing' },
      ],
    })
    expect((await check('PYTHON', 'import json\nreturn )')).body).toEqual({
      ok: false,
      faults: [{ message: "unmatched ')'", line: 2, column: 8 }],
      imports: [{ name: 'json', kind: 'builtin' }],
    })
  })

  test('refuses what is no source or no language', async () => {
    expectProblem(await check('COBOL', 'return 1'), 400, { path: '/programmingLanguage' })
    expectProblem(await check('PYTHON', 1), 400, { path: '/sourceCode' })
    expectProblem(await check('PYTHON', 'a\0'), 400, { path: '/sourceCode' })
    expectProblem(await client.post('/sources/check', {}), 400, { path: '/sourceCode' })
  })
})

interface CodeRun extends Execution {
  logs: LogEntry[]
}

describe('running code by an API token alone', () => {
  const { apiToken, team } = shared.main
  const run = (code: unknown, options?: object, token = apiToken) =>
    client.root<CodeRun>('POST', '/run', token, { code, options })
  const processAt = (id: string) => client.get<Process>(`/processes/${id}`)

  test('whoami says which team and which client the token is of', async () => {
    const { status, body } = await client.root('GET', '/run/whoami', apiToken)
    expect(status).toBe(200)
    const [clientId] = Buffer.from(apiToken.slice(3), 'base64').toString().split(':')
    expect(body).toEqual({ teamId: team, clientId, name: expect.stringMatching(/\S/), scopes: expect.any(Array) })
    expect((body as { scopes: string[] }).scopes.length).toBeGreaterThan(0)
  })

  test('a token that opens nothing is refused, with words that connectors look for', async () => {
    const unknown = `sk-${Buffer.from(`sa-${team}-abcdefgh:wrong`).toString('base64')}`
    const ofNoTeam = `sk-${Buffer.from('nobody:wrong').toString('base64')}`
    for (const token of ['', 'x', 'sk-x', unknown, ofNoTeam, client.address.accessToken]) {
      const answers = [await client.root('GET', '/run/whoami', token), await run('return 1', undefined, token)]
      for (const answer of answers) {
        const { detail } = expectProblem(answer, 401, { code: /api_token_(missing|invalid)/ })
        expect(detail).toContain('Invalid API token')
      }
    }
  })

  test('runs as a process of its own that later runs of the same code find, at the same time too', async () => {
    const name = unique()
    const code = `console.log('${name}'); return svc.context.parameters`
    const options = { parameters: { big: 1 }, comment: name, initiatedBy: 'somebody' }
    const answers = await Promise.all([1, 2, 3, 4].map(() => run(code, options)))
    for (const { status, text, body, headers } of answers) {
      expect(status, text).toBe(200)
      expect(body).toMatchObject({
        status: 'FINISHED',
        returnValue: '{"big":1}',
        parameters: { big: 1 },
        comment: name,
      })
      expect(body.logs.map(({ level, message }) => [level, message])).toEqual([['INFO', name]])
      expect(body.timeline.events.map((one) => one.status)).toContain('FINISHED')
      expect(headers.get('svc-execution-id')).toBe(body.id)
    }
    const [{ body }] = answers as [(typeof answers)[0]]
    expect(new Set(answers.map((answer) => answer.body.processId)).size).toBe(1)
    expect((await processAt(body.processId)).body).toMatchObject({
      slug: expect.stringMatching(/^run-[0-9a-f]{64}$/),
      sourceCode: code,
      programmingLanguage: 'JAVASCRIPT',
      tags: ['run'],
    })
    expect((await client.get<Execution>(`/executions/${body.id}`)).body).toMatchObject({ initiatedBy: 'somebody' })
    const python = (await run('return 2', { language: 'python' })).body
    expect(python).toMatchObject({ status: 'FINISHED', returnValue: '2', parameters: {} })
    expect((await run('return 2')).body.processId).not.toBe(python.processId)
  })

  test('a run that fails is answered like one that succeeds', async () => {
    const { status, body } = await run("throw new RangeError('too far')")
    expect(status).toBe(200)
    expect(body).toMatchObject({ status: 'ERROR', error: { name: 'RangeError', message: 'too far' } })
    expect(body).not.toHaveProperty('returnValue')
    expect(body.logs.at(-1)).toMatchObject({ level: 'ERROR', message: expect.stringContaining('too far') })
  })

  test('its process is removed afterwards where asked, and never while another call uses it', async () => {
    const gate = await makeGate()
    const code = `if (svc.context.parameters.waits) { ${gate.wait} } return '${unique()}'`
    const mark = unique()
    const waiting = run(code, { parameters: { waits: true, mark }, removeOnDone: true })
    const { data } = await waitUntil(
      'the run waits',
      async () => {
        const { body } = await client.get<Page<Execution>>('/executions', { status: 'RUNNING', q: mark })
        return body.data.length > 0 && body
      },
      { timeoutMs: 20_000 },
    )
    const quick = await run(code, { removeOnDone: true })
    expect(quick.body).toMatchObject({ status: 'FINISHED' })
    expect(data.map(({ processId }) => processId)).toContain(quick.body.processId)
    expect((await processAt(quick.body.processId)).status).toBe(200)
    await gate.open()
    expect((await waiting).body).toMatchObject({ status: 'FINISHED', processId: quick.body.processId })
    expect((await processAt(quick.body.processId)).status).toBe(404)
  })

  test('its process is removed where asked although no run of it was begun', async () => {
    const code = `return '${unique()}'`
    const slug = `run-${createHash('sha256').update(`JAVASCRIPT\n${code}`).digest('hex')}`
    const settings = { agentPoolSlug: 'nowhere' }
    expectProblem(await run(code, { settings, removeOnDone: true }), 400)
    expect((await processAt(slug)).status).toBe(404)
    expectProblem(await run(code, { settings }), 400)
    expect((await processAt(slug)).status).toBe(200)
  })

  test('empty settings are none', async () => {
    expect((await run('return 1', { settings: '' })).body).toMatchObject({ status: 'FINISHED' })
  })

  test('what can not be run is refused where the caller wrote it', async () => {
    expectProblem(await run(1), 400, { path: '/code' })
    expectProblem(await run('return 1\0'), 400, { path: '/code' })
    expectProblem(await run('return 1', { language: 'cobol' }), 400, { path: '/options/language' })
    expectProblem(await run('return 1', { parameters: '[1]' }), 400, { path: '/options/parameters' })
    expectProblem(await run('return 1', { settings: { timeout: 1 } }), 400, { path: '/options/settings/timeout' })
    for (const initiatedBy of ['x'.repeat(256), 'a\nb'])
      expectProblem(await run('return 1', { initiatedBy }), 400, { path: '/options/initiatedBy' })
    const manifest = { dependencies: { 'no name': '1' } }
    expectProblem(await run('return 1', { manifest }), 400, { path: /^\/options\/manifest\/dependencies\// })
  })
})

describe('a draft', () => {
  const recordOf = async (id: string) => (await client.get<Execution>(`/executions/${id}`)).body
  const idOf = ({ headers }: { headers: Headers }) => headers.get('svc-execution-id') ?? ''

  test('is run in place of the stored source, is a trial in its record, and changes nothing of the process', async () => {
    const process = await makeProcess({ sourceCode: 'return 1', parametersSchema: '{"type":"object"}' })
    const draft = { sourceCode: 'return [svc.context.parameters, svc.execution.process.slug]' }
    const answer = await executeSync(process, { draft, parameters: { a: 1 }, comment: 'tried' })
    expect(answer.status, answer.text).toBe(203)
    expect(answer.body).toEqual([{ a: 1 }, process.slug])
    const record = await recordOf(idOf(answer))
    expect(record).toMatchObject({
      trial: true,
      processId: process.id,
      status: 'FINISHED',
      comment: 'tried',
      origin: 'rest',
    })
    expect(record).not.toHaveProperty('versionId')
    expect(record).not.toHaveProperty('tag')
    expect((await client.get(`/processes/${process.id}`)).body).toEqual(process)
    expect((await client.get<Page<unknown>>(`/processes/${process.id}/versions`)).body.total).toBe(0)
    const saved = await executeSync(process)
    expect(saved.body).toBe(1)
    expect(await recordOf(idOf(saved))).toMatchObject({ trial: false })
    const started = await client.post<{ executionId: string }>(`/processes/${process.id}/execute`, { draft })
    expect(started.status, started.text).toBe(202)
    const listed = async (trial: boolean) => {
      const { data } = (await client.get<Page<Execution>>('/executions', { processId: process.id, trial })).body
      return data.map(({ id }) => id)
    }
    expect((await listed(true)).toSorted()).toEqual([idOf(answer), started.body.executionId].toSorted())
    expect(await listed(false)).toEqual([idOf(saved)])
  })

  test('is run again as it was, also when the process has another source', async () => {
    const process = await makeProcess({ sourceCode: 'return 1' })
    const tried = await executeSync(process, { draft: { sourceCode: "return 'tried'" } })
    await client.patch(`/processes/${process.id}`, { sourceCode: 'return 2' })
    const again = await client.post<string>(`/executions/${idOf(tried)}/rerun`)
    expect(again.status, again.text).toBe(202)
    expect(await awaitEnd(again.body)).toMatchObject({
      returnValue: '"tried"',
      trial: true,
      rerunOf: idOf(tried),
    })
  })

  test('of no process runs in its own language; a process whose slug is draft is found where none is named', async () => {
    const run = (body: object) => client.post('/processes/draft/execute-sync', body)
    const python = await run({
      draft: { programmingLanguage: 'PYTHON', sourceCode: 'return svc.context.parameters["n"]' },
      parameters: { n: 7 },
    })
    expect(python.body, python.text).toBe(7)
    expect(await recordOf(idOf(python))).toMatchObject({ trial: true, processSlug: 'draft', status: 'FINISHED' })
    const again = await client.post<string>(`/executions/${idOf(python)}/rerun`)
    expect(await awaitEnd(again.body)).toMatchObject({ returnValue: '7', trial: true })
    expectProblem(await run({ draft: { sourceCode: 'return 1' } }), 400, { path: '/draft/programmingLanguage' })
    expectProblem(await run({}), 404, { code: 'process_not_found' })
    const process = await makeProcess({ slug: 'draft', sourceCode: "return 'stored'" })
    try {
      expect((await run({})).body).toBe('stored')
      const trial = await run({ draft: { sourceCode: 'return svc.execution.process.id' } })
      expect(trial.body).toBe(process.id)
      expect((await run({ draft: { programmingLanguage: 'JAVASCRIPT', sourceCode: 'return 2' } })).body).toBe(2)
    } finally {
      await client.delete(`/processes/${process.id}`)
    }
  })

  test('with a syntax error fails as a saved source does; what can be none at all is refused where the caller wrote it', async () => {
    const process = await makeProcess({ sourceCode: 'return 1' })
    const failed = await executeSync(process, { draft: { sourceCode: 'return 1 +' } })
    expectProblem(failed, 500, { code: 'execution_failed' })
    const refused = async (input: Record<string, unknown>, path: string | RegExp) =>
      expectProblem(await executeSync(process, input), 400, { path })
    await refused({ draft: {} }, '/draft/sourceCode')
    await refused({ draft: { sourceCode: 'a\0' } }, '/draft/sourceCode')
    await refused({ draft: { sourceCode: '', parametersSchema: '{"type":1}' } }, /^\/draft\/parametersSchema/)
    await refused({ draft: { sourceCode: '', manifest: { dependencies: { 'no name': '1' } } } }, /^\/draft\/manifest/)
    await refused({ draft: { sourceCode: '' }, tag: 'v1' }, '/tag')
    const absent = await client.post('/processes/nobody-has-it/execute', { draft: { sourceCode: '' } })
    expectProblem(absent, 404, { code: 'process_not_found' })
  })
})
