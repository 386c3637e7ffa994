import { describe, expect, test } from 'vitest'
import type { Page, Variable } from '../client/records.ts'
import { expectProblem } from './problem.ts'
import { executeSync, makeProcess, runCode, valueOf } from './runs.ts'
import { client, unique } from './shared-system.ts'

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

  test('a sensitive value reads back as stars everywhere, and runs still get it', async () => {
    const variable = await makeVariable({ value: 'hush-hush-1', isSensitive: true })
    expect(variable).toMatchObject({ value: '******', isSensitive: true })
    expect((await listed(variable.id))?.value).toBe('******')
    const updated = await client.patch<Variable>(`/variables/${variable.id}`, { value: 'hush-hush-2' })
    expect(updated.body.value).toBe('******')
    expect(await valueOf(`return svc.env.${variable.key}.length + svc.env.${variable.key}.slice(-1)`)).toBe('112')
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
