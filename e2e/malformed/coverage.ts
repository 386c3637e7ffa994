import type { Operation } from '../strangers/document.ts'
import { identified, jsonOperations, lists } from './operations.ts'

/** Operations whose malformed requests are made elsewhere: of storage, of tokens, of webhooks, of any path. */
const elsewhere: readonly string[] = [
  'GET /rest/team',
  'POST /rest/auth/token',
  'GET /rest/storage/objects',
  'POST /rest/storage/objects',
  'GET /webhooks/{}',
  'POST /webhooks/{}',
]

/**
 * What the tables of malformed requests leave out of the operations of a document: an operation, or one of its inputs,
 * in words; empty where nothing is.
 */
export function gapsIn(operations: readonly Operation[]): string[] {
  return operations.flatMap((operation) => {
    const name = plain(operation.name)
    const gaps = [...bodyGaps(operation, name), ...listGaps(operation, name), ...idGaps(operation, name)]
    const isAimedAt = hasInputs(operation) || elsewhere.includes(name)
    return isAimedAt ? gaps : [...gaps, `${name} has no rows`]
  })
}

function bodyGaps({ inputs }: Operation, name: string): string[] {
  const fields = inputs.filter(({ place }) => place === 'body').map((input) => input.name)
  if (fields.length === 0 || elsewhere.includes(name)) return []
  const row = jsonOperations.find(({ method, path }) => plain(`${method} /rest${path}`) === name)
  if (row === undefined) return [`${name} has no row in jsonOperations`]
  const known = [...Object.keys(row.fields), ...(row.unread ?? [])]
  return fields
    .filter((field) => !known.some((one) => field === one || field === `${one}/[]`))
    .map((field) => `${name} has no row for the field ${field}`)
}

function listGaps({ inputs }: Operation, name: string): string[] {
  if (!inputs.some((input) => input.place === 'query' && input.name === 'page')) return []
  const isKnown = lists.some(({ path }) => plain(`GET /rest${path}`) === name)
  return isKnown ? [] : [`${name} has no row in lists`]
}

function idGaps({ inputs }: Operation, name: string): string[] {
  const ids = inputs.filter((input) => input.place === 'path' && input.name !== 'team')
  if (ids.length === 0 || elsewhere.includes(name)) return []
  const isKnown = identified.some(({ path, methods }) =>
    methods.some((method) => plain(`${method} /rest${path}`) === name),
  )
  return isKnown ? [] : [`${name} has no row in identified`]
}

function hasInputs({ inputs }: Operation): boolean {
  return inputs.some(({ place, name }) => place !== 'header' && name !== 'team')
}

/** `GET /rest/processes/{identifier}` → `GET /rest/processes/{}`. */
function plain(name: string): string {
  return name.replaceAll(/\{\w+\}/g, '{}')
}
