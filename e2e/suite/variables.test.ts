import { describe, expect, test } from 'vitest'
import type { Page, Variable } from '../client/records.ts'
import { expectProblem } from './problem.ts'
import { executeSync, makeProcess, runCode, valueOf } from './runs.ts'
import { client, hasOther, other, unique } from './shared-system.ts'

const newKey = () => unique('V').replaceAll('-', '_')

async function makeVariable(fields: Record<string, unknown> = {}): Promise<Variable> {
  const answer = await client.post<Variable>('/variables', { key: newKey(), value: 'text', ...fields })
  expect(answer.status, answer.text).toBe(201)
  return answer.body
}

async function listed(id: string): Promise<Variable | undefined> {
  const { body } = await client.get<Page<Variable>>('/variables', { limit: 1000 })
  return body.data.find((variable) => variable.id === id)
}

describe('team variables', () => {
  test('a variable is created, listed and seen by runs', async () => {
    const variable = await makeVariable({ value: 'plain ü' })
    expect(variable).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      value: 'plain ü',
      isSensitive: false,
      createdBy: expect.any(String),
      createdAt: expect.stringMatching(/Z$/),
    })
    expect(await listed(variable.id)).toEqual(variable)
    expect(await valueOf(`return [svc.env.${variable.key}, process.env.${variable.key}]`)).toEqual([
      'plain ü',
      'plain ü',
    ])
  })

  test('a missing value is the empty text', async () => {
    for (const value of [undefined, null, '']) expect((await makeVariable({ value })).value).toBe('')
  })

  test('a sensitive value reads back as stars everywhere, and runs still get it', async () => {
    const variable = await makeVariable({ value: 'hush-hush-1', isSensitive: true })
    expect(variable).toMatchObject({ value: '******', isSensitive: true })
    expect((await listed(variable.id))?.value).toBe('******')
    const updated = await client.patch<Variable>(`/variables/${variable.id}`, { value: 'hush-hush-2' })
    expect(updated.body.value).toBe('******')
    expect(await valueOf(`return svc.env.${variable.key}.length + svc.env.${variable.key}.slice(-1)`)).toBe('112')
  })

  test('sensitivity is fixed at creation', async () => {
    const [open, secret] = await Promise.all([makeVariable(), makeVariable({ isSensitive: true })])
    const change = (variable: Variable, isSensitive: boolean) =>
      client.patch(`/variables/${variable.id}`, { isSensitive, value: 'other' })
    expectProblem(await change(open, true), 400, { path: '/isSensitive' })
    expectProblem(await change(secret, false), 400, { path: '/isSensitive' })
    expect((await change(open, false)).status).toBe(200)
    expect((await change(secret, true)).status).toBe(200)
  })

  test('key and value can be changed one by one, signed and seen by the next run', async () => {
    const variable = await makeVariable({ value: 'a' })
    const process = await makeProcess({ sourceCode: 'return svc.env[svc.context.parameters.key] ?? null' })
    const seen = async (key: string) => (await executeSync(process, { parameters: { key } })).body
    expect(await seen(variable.key)).toBe('a')
    const { body } = await client.patch<Variable>(`/variables/${variable.id}`, { value: 'b' })
    expect(body).toMatchObject({
      ...variable,
      value: 'b',
      updatedBy: expect.any(String),
      updatedAt: expect.any(String),
    })
    expect(await seen(variable.key)).toBe('b')
    const key = newKey()
    expect((await client.patch<Variable>(`/variables/${variable.id}`, { key })).body).toMatchObject({ key, value: 'b' })
    expect([await seen(variable.key), await seen(key)]).toEqual([null, 'b'])
  })

  test('a deleted variable is gone for lists and for runs', async () => {
    const variable = await makeVariable()
    const answer = await client.delete(`/variables/${variable.id}`)
    expect([answer.status, answer.text]).toEqual([200, ''])
    expect(await listed(variable.id)).toBeUndefined()
    expect(await valueOf(`return svc.env.${variable.key} ?? null`)).toBeNull()
    expectProblem(await client.delete(`/variables/${variable.id}`), 404, { code: 'variable_not_found' })
    expectProblem(await client.patch(`/variables/${variable.id}`, { value: 'x' }), 404, { code: 'variable_not_found' })
  })

  test('a key is unique in the team and may exist in another one', async () => {
    const [one, two] = await Promise.all([makeVariable(), makeVariable()])
    expectProblem(await client.post('/variables', { key: one.key, value: 'x' }), 400, { path: '/key' })
    expectProblem(await client.patch(`/variables/${two.id}`, { key: one.key }), 400, { path: '/key' })
    if (hasOther) expect((await other.post('/variables', { key: one.key, value: 'x' })).status).toBe(201)
  })

  test.for([undefined, null, '', '1a', '_a', 'a-b', 'a b', 'ä', 'a.b', 'x'.repeat(256), 5, {}, 'a\n'])(
    'the key %j is refused with its path',
    async (key) => {
      expectProblem(await client.post('/variables', { key, value: 'x' }), 400, { path: '/key' })
    },
  )

  test('a key of 255 characters is accepted', async () => {
    const key = newKey().padEnd(255, 'x')
    expect((await makeVariable({ key })).key).toBe(key)
  })

  test.for([5, {}, [], true])('the value %j is refused with its path', async (value) => {
    expectProblem(await client.post('/variables', { key: newKey(), value }), 400, { path: '/value' })
  })

  test('a value of 64 KiB is accepted, a byte more is refused', async () => {
    const value = 'é'.repeat(32 * 1024)
    expect((await makeVariable({ value })).value).toBe(value)
    expectProblem(await client.post('/variables', { key: newKey(), value: `${value}x` }), 400, { path: '/value' })
  })

  test('isSensitive must be a boolean', async () => {
    const answer = await client.post('/variables', { key: newKey(), value: 'x', isSensitive: 'yes' })
    expectProblem(answer, 400, { path: '/isSensitive' })
  })

  test('a malformed id gives 404', async () => {
    for (const id of ['x', '1', crypto.randomUUID()])
      expectProblem(await client.patch(`/variables/${id}`, { value: 'x' }), 404, { code: 'variable_not_found' })
  })

  test('sensitive values are masked in logs, error texts and the timeline, in every common form', async () => {
    const secret = `s3cr3t+/"${unique()}`
    const { key } = await makeVariable({ value: secret, isSensitive: true })
    const forms = [secret, btoa(secret), encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]
    const source = `const s = svc.env.${key}
      console.log('plain', s); console.warn({ s }); console.error(Buffer.from(s).toString('base64'))
      process.stdout.write(encodeURIComponent(s) + '\\n'); console.log(JSON.stringify([s]))
      throw new Error('failed with ' + s)`
    const { answer, execution, logs } = await runCode(source)
    const shown = JSON.stringify([answer.text, execution.timeline, logs.map(({ message }) => message)])
    for (const form of forms) expect(shown).not.toContain(JSON.stringify(form).slice(1, -1))
    expect(execution.timeline.events.at(-1)?.explanation).toMatch(/^Error: failed with \*+$/)
    expect(logs.length).toBeGreaterThanOrEqual(5)
  })

  test('values of fewer than four characters are not masked', async () => {
    const { key } = await makeVariable({ value: 'abc', isSensitive: true })
    const { logs } = await runCode(`console.log('abc', svc.env.${key})`)
    expect(logs.map(({ message }) => message)).toContain('abc abc')
  })
})
