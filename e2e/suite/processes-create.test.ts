import { describe, expect, test } from 'vitest'
import type { Process } from '../client/records.ts'
import { expectProblem } from './problem.ts'
import { makeProcess } from './runs.ts'
import { client, unique } from './shared-system.ts'

const create = (input: unknown) => client.post<Process>('/processes', input)

describe('creating a process', () => {
  test('a name is enough: every other field takes its default', async () => {
    const name = unique()
    const answer = await create({ name })
    expect(answer.status, answer.text).toBe(201)
    expect(answer.body).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      name,
      slug: name,
      programmingLanguage: 'JAVASCRIPT',
      sourceCode: '',
      parametersSchema: null,
      webhook: { enabled: false },
      settings: {
        formsConfig: { enabled: false },
        publicConfig: { enabled: false },
        dependencies: { scopedToProcess: false, autoDetect: false },
      },
      manifest: { dependencies: {} },
      tags: [],
      createdBy: expect.stringMatching(/\S/),
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,}Z$/),
    })
  })

  test('a source with a syntax error is saved, and the answer alone says where it is', async () => {
    const broken = { name: unique(), sourceCode: 'const a = 1\nreturn a +' }
    const { body } = await create(broken)
    const fault = 'Syntax error in line 2, column 11: Unexpected token. It is saved, and its runs fail'
    expect(body).toMatchObject({ ...broken, warnings: [{ path: '/sourceCode', message: fault }] })
    expect((await client.get(`/processes/${body.id}`)).body).not.toHaveProperty('warnings')
  })

  test('packages in the manifest are those of the process alone', async () => {
    const { body } = await create({ name: unique(), manifest: { dependencies: { own: '1.2.3' } } })
    expect(body).toMatchObject({ settings: { dependencies: { scopedToProcess: true } } })
  })

  test('every field is kept as given', async () => {
    const given = {
      name: unique('Every Field '),
      slug: unique('slug'),
      description: 'What it does – ünïcode 🙂',
      readme: '# Title\n\nText',
      programmingLanguage: 'PYTHON',
      sourceCode: "return {'a': 1}\n",
      manifest: { dependencies: { requests: '>=2.0', 'python-dateutil': '~=2.9' } },
      settings: {
        formsConfig: { enabled: true },
        publicConfig: { enabled: true, token: 'open'.padEnd(22, '-') },
        dependencies: { scopedToProcess: true, autoDetect: true },
      },
      tags: ['one', 'two words', 'drei'],
    }
    const { body } = await create({
      ...given,
      parametersSchema: '{"type":"object","properties":{"a":{"type":"number"}}}',
      webhook: { enabled: true, username: 'user', password: 'secret-word' },
    })
    const expected = {
      ...given,
      parametersSchema: { type: 'object', properties: { a: { type: 'number' } } },
      webhook: { enabled: true, username: 'user' },
    }
    expect(body).toMatchObject(expected)
    const read = await client.get<Process>(`/processes/${body.id}`)
    expect(read.body).toEqual(body)
  })

  test('a webhook password is never returned, nor its hash', async () => {
    const process = await makeProcess({ webhook: { enabled: true, username: 'user', password: 'n0t-shown' } })
    const answers = await Promise.all([
      client.get(`/processes/${process.id}`),
      client.get('/processes', { keywords: process.name }),
      client.patch(`/processes/${process.id}`, { description: 'x' }),
    ])
    for (const { text } of answers) {
      expect(text).not.toContain('n0t-shown')
      expect(text).not.toMatch(/password|\$2[aby]\$|hash/i)
    }
  })

  test('the deprecated script is honoured where top-level fields are absent', async () => {
    const script = { programmingLanguage: 'PYTHON', sourceCode: 'return 1', parametersSchema: '{"type":"object"}' }
    const { body } = await create({ name: unique(), script })
    expect(body).toMatchObject({ ...script, parametersSchema: { type: 'object' } })
  })

  test('the parameters schema comes in as JSON text or as an object and goes out as an object', async () => {
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      definitions: { a: { type: 'string' } },
    }
    const [asText, asObject] = await Promise.all([
      makeProcess({ parametersSchema: JSON.stringify(schema) }),
      makeProcess({ parametersSchema: schema }),
    ])
    expect(asText.parametersSchema).toEqual(schema)
    expect(asObject.parametersSchema).toEqual(schema)
  })

  test('a 2020-12 schema is accepted', async () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $defs: { word: { type: 'string' } },
      properties: { list: { prefixItems: [{ $ref: '#/$defs/word' }] } },
    }
    expect((await makeProcess({ parametersSchema: schema })).parametersSchema).toEqual(schema)
  })

  test.for([
    ['not JSON', '{"type":', /^\/parametersSchema/],
    ['an unknown type', { type: 'nope' }, /^\/parametersSchema\/type/],
    ['a deep fault', { properties: { a: { minimum: 'x' } } }, /^\/parametersSchema\/properties\/a\/minimum/],
    ['a fault in JSON text', '{"properties":{"a":{"required":1}}}', /^\/parametersSchema\/properties\/a\/required/],
    ['a pattern that is none', { properties: { a: { type: 'string', pattern: '(' } } }, /^\/parametersSchema/],
    ['a reference to elsewhere', { $ref: 'http://127.0.0.1:1/schema.json' }, /^\/parametersSchema/],
    ['a list', '[]', /^\/parametersSchema/],
    ['a number', 5, /^\/parametersSchema/],
  ] as const)(
    'a parameters schema that is %s is refused with the path of the fault',
    async ([, parametersSchema, path]) => {
      expectProblem(await create({ name: unique(), parametersSchema }), 400, { path })
    },
  )
})
