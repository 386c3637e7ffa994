import type { OperationJson } from './document-json.ts'

/** What an answer has that the path of another operation asks for. */
interface Link {
  /** Of the answer. */
  status: string
  /** Of the other operation's path. */
  parameter: string
  /** A runtime expression; `{id}` stands for the header with the execution's id. */
  value: string
}

type Rule = [made: RegExp, used: RegExp, link: Link]

const madeId = { status: '201', value: '$response.body#/id' }
const started = { status: '202', parameter: 'id', value: '$response.header.{id}' }

/** Things that are made elsewhere than in the collection that they are found in. Paths are those below /api/{team}. */
const rules: readonly Rule[] = [
  [/^post \/rest\/.*\/(execute|rerun|replay)$/, /\/executions\/\{id\}/, started],
  [/^post \/rest\/.*\/execute-sync$/, /\/executions\/\{id\}/, { ...started, status: '203' }],
  [/^post \/webhooks\//, /\/executions\/\{id\}/, { ...madeId, parameter: 'id' }],
  [/^post \/rest\/schedules\/\{id\}\/run$/, /\/executions\/\{id\}/, { ...madeId, parameter: 'id' }],
  [/^post \/rest\/.*\/schedule$/, /\/schedules\/\{id\}/, { ...madeId, parameter: 'id' }],
  [
    /^post \/rest\/processes$/,
    /\/webhooks\/\{slug\}/,
    { status: '201', parameter: 'slug', value: '$response.body#/slug' },
  ],
  [
    /^post \/rest\/storage\/objects$/,
    /\/storage\/objects\/\{filename\}/,
    { status: '204', parameter: 'filename', value: '$request.query.filename' },
  ],
]

interface Endpoint {
  method: string
  /** Below /api/{team}. */
  path: string
  operation: OperationJson
}

/**
 * Adds links from what makes a thing to what can be done with it: whatever lies below the address of a collection takes
 * the id of what was made there. `idHeader` is such as `Svc-Execution-ID`.
 */
export function addLinks(paths: Record<string, Record<string, OperationJson>>, idHeader: string): void {
  const endpoints = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Endpoint => {
      return { method, path: path.replace(/^\/api\/\{team\}/, ''), operation }
    }),
  )
  for (const source of endpoints)
    for (const target of endpoints) {
      const link = linkBetween(source, target)
      const response = link && source.operation.responses[link.status]
      if (link === undefined || response === undefined) continue
      response.links ??= {}
      response.links[target.operation.operationId] = {
        operationId: target.operation.operationId,
        parameters: {
          team: '$request.path.team',
          ...Object.fromEntries(shared(source, target).map((name) => [name, `$request.path.${name}`])),
          [link.parameter]: link.value.replace('{id}', idHeader),
        },
      }
    }
}

function linkBetween(source: Endpoint, target: Endpoint): Link | undefined {
  const word = `${source.method} ${source.path}`
  const rule = rules.find(([made, used]) => made.test(word) && used.test(target.path))
  if (rule !== undefined) return rule[2]
  if (source.method !== 'post' || !target.path.startsWith(source.path)) return undefined
  const parameter = /^\/\{(\w+)\}/.exec(target.path.slice(source.path.length))?.[1]
  if (parameter === undefined) return undefined
  const known = [...namesIn(source.path), parameter]
  return namesIn(target.path).every((name) => known.includes(name)) ? { ...madeId, parameter } : undefined
}

function shared(source: Endpoint, target: Endpoint): string[] {
  const given = namesIn(source.path)
  return namesIn(target.path).filter((name) => given.includes(name))
}

function namesIn(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
}
