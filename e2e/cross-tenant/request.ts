import { send } from '../client/client.ts'
import type { Answer, Client } from '../client/client.ts'
import type { Belongings } from './belongings.ts'
import type { Input, Operation } from '../client/document.ts'
import { namingOf } from './naming.ts'
import { newWord } from './things.ts'

/** The value of each input that a request gives. */
export type Values = ReadonlyMap<Input, string | number | object>

/** What a right request gives beside what stands in its path, by a pattern of operations. */
const needed: readonly [operations: RegExp, inputs: readonly string[]][] = [
  [/^POST \/rest\/processes$/, ['body /name']],
  [/^PATCH \/rest\/processes\/\{identifier\}$/, ['body /description']],
  [/^POST .*\/versions$/, ['body /tag']],
  [/^POST .*\/aliases$/, ['body /name', 'body /versionId']],
  [/^PATCH .*\/aliases/, ['body /name']],
  [/^POST .*\/schedule$/, ['body /cron']],
  [/\/rollback$/, ['body /installId']],
  [/\/installs\/\{id\}\/diff$/, ['query to']],
  [/\/schedules\/preview$/, ['body /cron']],
  [/^GET \/rest\/schedules\/firings$/, ['query from', 'query to']],
  [/^PATCH \/rest\/schedules/, ['body /input/comment']],
  [/^POST \/rest\/modules$/, ['body /name']],
  [/^PATCH \/rest\/modules\/\{id\}$/, ['body /sourceCode']],
  [/^POST \/rest\/sources\/check$/, ['body /programmingLanguage', 'body /sourceCode']],
  [/^POST \/rest\/variables$/, ['body /key']],
  [/^PATCH \/rest\/variables/, ['body /value']],
  [/^PUT \/rest\/dependencies/, ['body /dependencies']],
  [/^POST \/rest\/sandboxes$/, ['body /imageId']],
  [/^POST \/rest\/sandboxes\/\{sandboxId\}$/, ['body /timeout']],
  [/^POST .*\/commands$/, ['body /command']],
  [/^POST \/rest\/storage\/objects$/, ['query filename']],
  [/^POST \/rest\/storage\/uploads$/, ['body /name']],
  [/^POST .*\/signed-urls$/, ['body /path']],
  [
    /\/storage\/signed\//,
    ['Algorithm', 'Credential', 'Date', 'Expires', 'SignedHeaders', 'Signature'].map((part) => `query X-Amz-${part}`),
  ],
  [/\/auth\/token$/, ['header x-api-token']],
  [/\/processes\/draft\//, ['body /draft/programmingLanguage', 'body /draft/sourceCode']],
  [/\/run\b/, ['header x-api-token', 'body /code']],
  [/^POST .*\/service-accounts$/, ['body /name']],
  [/\/webhook\/send$/, ['body /signWith/variable', 'body /signWith/scheme']],
]

/** Values of inputs that name nothing. */
const usual: Readonly<Record<string, string | number | object>> = {
  'body /command': 'true',
  'body /cron': '0 0 1 1 *',
  'body /dependencies': {},
  'body /description': 'changed',
  'body /draft/programmingLanguage': 'JAVASCRIPT',
  'body /draft/sourceCode': 'return 1',
  'body /imageId': 'base',
  'body /programmingLanguage': 'JAVASCRIPT',
  'body /signWith/scheme': 'github',
  'body /sourceCode': 'exports.changed = true',
  'body /timeout': 60_000,
  'body /value': 'changed',
  'path number': 1,
  'path path': 'tmp/written',
  'query from': '2050-01-01T00:00:00Z',
  'query to': '2050-01-02T00:00:00Z',
}

/** Whether a right request gives this input. */
export function isNeeded(operation: Operation, { location, name }: Input): boolean {
  if (location === 'path') return true
  return needed.some(
    ([operations, inputs]) => operations.test(operation.name) && inputs.includes(`${location} ${name}`),
  )
}

/** What the owner of these things would give for an input. */
export async function valueFor(operation: Operation, input: Input, owner: Belongings) {
  const naming = namingOf(operation, input)
  if (typeof naming === 'object') return naming.gives ? newName() : ((await owner.names[naming.kind]())[0] ?? '')
  if (input.name === 'x-api-token') return (await owner.names.apiToken())[0] ?? ''
  if (input.name.startsWith('X-Amz-')) return owner.linkPart(input.name)
  return usual[`${input.location} ${input.name}`] ?? 'x'
}

/** A name for something new, in a form that all kinds of names allow. */
const newName = () => newWord('new').replace('-', '')

/** Sends the request with the access token of whoever asks. */
export function ask(operation: Operation, values: Values, { address }: Client): Promise<Answer> {
  const { path, inputs } = operation
  // A stream without an end: its head says as much.
  const method = operation.name === 'GET /rest/events' ? 'HEAD' : operation.method
  const at = (location: Input['location']) => [...values].filter(([input]) => input.location === location)
  const texts = (location: Input['location']) =>
    Object.fromEntries(at(location).map(([{ name }, value]) => [name, textOf(value)]))
  const target = at('path').reduce(
    (url, [{ name }, value]) => url.replace(`{${name}}`, encodeURIComponent(textOf(value))),
    path,
  )
  const authorization = `Bearer ${address.accessToken}`
  const headers = { authorization, ...texts('header') }
  const options = inputs.some(({ name }) => name === '/file')
    ? { headers: { ...headers, 'content-type': 'application/octet-stream' }, body: 'of a stranger' }
    : { headers, json: inputs.some(({ location }) => location === 'body') ? bodyOf(at('body')) : undefined }
  return send(address.host + target, method, { ...options, query: texts('query') })
}

/** An object with these values at their pointers. */
export function bodyOf(values: readonly [Input, unknown][]): object {
  const body = {}
  for (const [{ name }, value] of values) {
    const isItem = name.endsWith('/[]')
    const steps = (isItem ? name.slice(0, -3) : name).slice(1).split('/')
    let at: Record<string, unknown> = body
    for (const step of steps.slice(0, -1)) at = (at[step] ??= {}) as Record<string, unknown>
    at[steps.at(-1) ?? ''] = isItem ? [value] : value
  }
  return body
}

/** A value as it stands in a path, a query or a header. */
export const textOf = (value: string | number | object) =>
  typeof value === 'object' ? JSON.stringify(value) : `${value}`
