import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, test } from 'vitest'
import { send } from '../client/client.ts'
import type { Document, OperationObject, ResponseObject } from '../contract/document.ts'
import { shared } from './shared-system.ts'
import { Contract, pointerOf } from '../contract/contract.ts'

const answer = await send<Document>(`${shared.host}/openapi.json`, 'GET')
const document = answer.body

const described = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path.replace(/^\/api\/\{\w+\}/, '')}`,
    path,
    operation,
  })),
)

const resolved = (response: ResponseObject): ResponseObject => {
  const name = response.$ref?.split('/').at(-1)
  return name === undefined ? response : (document.components['responses']?.[name] as ResponseObject)
}

const refusals = ({ responses }: OperationObject) =>
  Object.entries(responses)
    .filter(([status]) => /^[45]/.test(status))
    .map(([status, response]) => ({ status, ...resolved(response) }))

describe('the OpenAPI document', () => {
  test('is a valid one of 3.1', async () => {
    expect(document.openapi).toMatch(/^3\.1\./)
    const { valid, errors } = await new Validator().validate({ ...structuredClone(document) })
    expect(valid, JSON.stringify(errors)).toBe(true)
  })

  test('needs no token and shows no secret, like the signs of life', async () => {
    for (const path of ['/livez', '/readyz', '/openapi.json']) {
      const { status, text } = await send(`${shared.host}${path}`, 'GET')
      expect(status).toBe(200)
      for (const secret of [shared.main.apiToken, shared.main.accessToken]) expect(text).not.toContain(secret)
    }
  })

  test('groups the operations under tags that it explains', () => {
    const used = new Set(described.flatMap(({ operation }) => operation.tags))
    expect(document.tags.map(({ name }) => name).toSorted()).toEqual([...used].toSorted())
    for (const { name, description } of document.tags) expect(description.length, name).toBeGreaterThan(20)
  })

  test('gives every body an example that is valid by its schema', () => {
    expect(bodiesOf(document).length).toBeGreaterThan(100)
    expect(exampleFaults(document)).toEqual([])
  })

  test('says of every body what it is', () => {
    const shapeless = bodiesOf(document).filter(({ schema }) => Object.keys(schema ?? {}).length === 0)
    expect(shapeless.map(({ at }) => at.join(' '))).toEqual([])
    for (const [name, schema] of Object.entries(document.components['schemas'] ?? {}))
      for (const [field, inner] of Object.entries((schema as { properties?: object }).properties ?? {}))
        expect(Object.keys(inner as object), `${name}.${field}`).not.toEqual([])
  })
})

describe.each(described)('the document of $name', ({ name, path, operation }) => {
  test('has statuses of success and of refusal, each with the request id', () => {
    expect(Object.keys(operation.responses).filter((status) => /^(101|2)/.test(status))).not.toEqual([])
    for (const [status, response] of Object.entries(operation.responses))
      expect(Object.keys(resolved(response).headers ?? {}), status).toContain('X-Request-Id')
  })

  test('lists the codes of each refusal', () => {
    const statuses = refusals(operation).map(({ status }) => status)
    expect(statuses).toEqual(expect.arrayContaining(['400', '500', '503']))
    if (path.includes('/rest/') && !/auth\/token|signed\/\{/.test(path))
      expect(statuses).toEqual(expect.arrayContaining(['401', '403']))
    for (const { status, content } of refusals(operation)) {
      const schema = content?.['application/problem+json']?.schema as { allOf?: [object, CodeOf] } | undefined
      expect(schema?.allOf?.[1].properties.code.enum, `${name} ${status}`).not.toHaveLength(0)
    }
  })

  test('names in its links only operations and parameters that there are', () => {
    for (const { links = {} } of Object.values(operation.responses))
      for (const { operationId, parameters } of Object.values(links)) {
        const target = described.find((one) => one.operation.operationId === operationId)
        expect(target, operationId).toBeDefined()
        for (const parameter of Object.keys(parameters)) expect(target?.path).toContain(`{${parameter}}`)
      }
  })
})

interface CodeOf {
  properties: { code: { enum: string[] } }
}

/** What is wrong with the examples of a document's bodies: those that are missing, and those that break their schemas. */
function exampleFaults(document: Document): string[] {
  const contract = new Contract(document)
  return bodiesOf(document).flatMap(({ at, example }) => {
    if (example === undefined) return [`${at.join(' ')} has no example`]
    return contract.faultsOfValue(pointerOf([...at, 'schema']), example).map((fault) => `${at.join(' ')}: ${fault}`)
  })
}

/** Every body that the document describes, with where it stands. */
function bodiesOf({ paths, components }: Document): { at: string[]; schema: unknown; example: unknown }[] {
  const shared = Object.entries(components['responses'] ?? {}).map(([name, response]) => ({
    at: ['components', 'responses', name],
    described: response as { content?: Content },
  }))
  const own = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody, responses }]) => [
      { at: ['paths', path, method, 'requestBody'], described: requestBody },
      ...Object.entries(responses).map(([status, described]) => ({
        at: ['paths', path, method, 'responses', status],
        described,
      })),
    ]),
  )
  return [...shared, ...own].flatMap(({ at, described }) =>
    Object.entries(described?.content ?? {}).map(([type, { schema, example }]) => ({
      at: [...at, 'content', type],
      schema,
      example,
    })),
  )
}

type Content = Record<string, { schema?: unknown; example?: unknown }>
