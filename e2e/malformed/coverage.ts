import type { Input, Operation } from '../client/document.ts'
import { identified, lists } from './addresses.ts'
import { callerAims, readAlike } from './caller-faults.ts'
import { jsonOperations } from './json-operations.ts'
import { storageAims } from './storage-faults.ts'
import { tokenAims } from './token-faults.ts'

/** Operations by method and path, with `{}` for names in it, and the inputs of each that a kind of fault breaks. */
export type Aims = Readonly<Record<string, readonly string[]>>

/** Inputs that count for nothing, so that no value of them is wrong. */
const ignored: readonly [operation: RegExp, input: string][] = [
  [/^PATCH \/(processes|modules)/, 'body /programmingLanguage'],
  [/^PATCH \/processes/, 'body /script/programmingLanguage'],
]

/** The inputs of operations for which no malformed request is made. */
export function notAimedAt(operations: readonly Operation[]): string[] {
  return operations.flatMap((operation) =>
    operation.inputs
      .filter((input) => !isAimedAt(operation, input))
      .map(({ place, name }) => `${operation.name} ${place} ${name}`),
  )
}

function isAimedAt({ method, path }: Operation, { place, name }: Input): boolean {
  const below = path.replace(/^\/api\/\{team\}(\/rest)?/, '')
  const operation = `${method} ${nameless(below)}`
  const word = `${place} ${name.replace(/\/\[\]$/, '')}`
  if (word === 'path team') return true // http.oddTeam goes by the document
  if (readAlike.includes(word)) return true
  const isIt = (row: { method: string; path: string }) => `${row.method} ${nameless(row.path)}` === operation
  return (
    [callerAims, storageAims, tokenAims].some((aims) => aims[operation]?.includes(word)) ||
    ignored.some(([operations, input]) => operations.test(operation) && input === word) ||
    (place === 'path' && isIdentified(method, below, name)) ||
    (place === 'query' && lists.some((list) => isIt({ method: 'GET', path: list.path }) && knows(list, name))) ||
    (place === 'body' && jsonOperations.some((row) => isIt(row) && word.slice('body '.length) in row.fields))
  )
}

function knows({ paged, strict, free }: (typeof lists)[number], name: string): boolean {
  return name in strict || free.includes(name) || (paged && ['page', 'limit'].includes(name))
}

function isIdentified(method: string, path: string, name: string): boolean {
  const wanted = nameless(path.replace(`{${name}}`, '<id>'))
  return identified.some((row) => row.methods.includes(method) && nameless(row.path.replace('{id}', '<id>')) === wanted)
}

const nameless = (path: string) => path.replaceAll(/\{\w+\}/g, '{}')
