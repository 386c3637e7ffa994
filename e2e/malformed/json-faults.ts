import type { Random } from '../system/random.ts'
import type { Attempt } from './attempt.ts'
import { jsonOperations } from './json-operations.ts'
import type { JsonOperation } from './json-operations.ts'
import type { Scene } from './scene.ts'
import { breakingValue, oddValue } from './values.ts'

const jsonType = { 'content-type': 'application/json' }

type Body = Record<string, unknown>

/** Fields of the wrong type, one to three at once, among others that are odd. */
export function wrongField(scene: Scene, random: Random): Attempt {
  const operation = random.pick(jsonOperations)
  const body: Body = {}
  const odd = random.chance(0.3)
  if (odd) addOddities(body, operation, random)
  const paths = Array.from({ length: random.between(1, 3) }, () => random.pick(Object.keys(operation.fields)))
  for (const path of paths) put(body, path, breakingValue(operation.fields[path] ?? 'text', random))
  // An odd value may be the fault that is found first, or name what is not there.
  const named = odd ? Object.keys(operation.fields) : paths
  const attempt = refused(scene, operation, JSON.stringify(body), named)
  return { ...attempt, status: odd ? [400, 404] : [400], fault: 'wrong type of a field' }
}

/** A required field is missing, or a body is no object at all. */
export function missingField(scene: Scene, random: Random): Attempt {
  const operation = random.pick(jsonOperations.filter(({ required }) => required.length > 0))
  const body = JSON.stringify({ comment: 'x', unknown: oddValue(random) })
  return { ...refused(scene, operation, body, []), fault: 'missing field' }
}

export function notAnObject(scene: Scene, random: Random): Attempt {
  const operation = random.pick(jsonOperations)
  const body = random.pick(['[]', '5', '"x"', 'true', '[{}]', '-0', '1e400'])
  return { ...to(scene, operation), fault: 'body is no object', body, status: [400] }
}

/** Bytes that are no JSON: cut, with something behind, not UTF-8, of another language. */
export function brokenJson(scene: Scene, random: Random): Attempt {
  const operation = random.pick(jsonOperations)
  const whole = JSON.stringify({ name: 'x', tag: 't', key: 'k', deep: { a: [1, 2, { b: 'text' }] } })
  const body = random.pick([
    () => whole.slice(0, random.between(1, whole.length - 1)),
    () => `${whole}${random.pick(['}', ',', 'x', ']', '\u0000'])}`,
    () => whole.replaceAll('"', "'"),
    () => whole.replace(':', ''),
    () => '{"a":1,}',
    () => '{"a":NaN}',
    () => '{"a":undefined}',
    () => '{a:1}',
    () => '<a/>',
    () => '\u0000\u0001\u0002',
    () => Buffer.from([0x7b, 0xff, 0xfe, 0x7d]),
    () => Buffer.from([0x1f, 0x8b, 0x08, 0x00, 0x00]),
    () => '"unclosed',
    () => '{"a":"line\nbreak"}',
    () => '['.repeat(random.between(10, 50_000)),
    () => '{"a":'.repeat(random.between(10, 20_000)),
  ])()
  return { ...to(scene, operation), fault: 'broken JSON', body, status: [400] }
}

/** Keys that reach for prototypes, doubled keys, and depth, in a body that is faulty anyhow. */
export function hostileJson(scene: Scene, random: Random): Attempt {
  const operation = random.pick(jsonOperations)
  const path = random.pick(Object.keys(operation.fields).filter((field) => field.lastIndexOf('/') === 0))
  const fault = `${JSON.stringify(path.slice(1))}:${JSON.stringify(breakingValue(operation.fields[path] ?? 'text', random))}`
  const extra = random.pick([
    '"__proto__":{"polluted":true,"enabled":true}',
    '"constructor":{"prototype":{"polluted":true}}',
    `"deep":${'[['.repeat(500)}1${']]'.repeat(500)}`,
    `"deep":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
    `"many":{${Array.from({ length: 3000 }, (_, n) => `"k${n}":${n}`).join()}}`,
    `"number":${'9'.repeat(5000)}`,
    '"":"","\\u0000":"\\u0000","\\ud800":"\\udfff"',
    `"long":"${'x'.repeat(300_000)}"`,
  ])
  return { ...refused(scene, operation, `{${extra},${fault}}`, [path]), fault: 'hostile JSON' }
}

/** Odd but well-typed values, which a rule may refuse or take: never an error of ours. */
export function oddFields(scene: Scene, random: Random): Attempt {
  const operation = random.pick(jsonOperations.filter(({ path }) => path !== '/team'))
  const body: Body = {}
  addOddities(body, operation, random)
  return { ...to(scene, operation, 'playground'), fault: 'odd values', body: JSON.stringify(body), expect: 'any' }
}

/** The wrong media type or an encoding, with a body that would be right. */
export function wrongMedia(scene: Scene, random: Random): Attempt {
  const operation = random.pick(jsonOperations)
  const headers: Record<string, string> = random.pick([
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/xml' },
    { 'content-type': 'application/x-www-form-urlencoded' },
    { 'content-type': 'multipart/form-data; boundary=x' },
    { 'content-type': 'multipart/form-data' },
    { 'content-type': 'application/jsonp' },
    { 'content-type': 'nonsense' },
    { 'content-type': ';;;' },
    { 'content-type': 'x'.repeat(2000) },
    { ...jsonType, 'content-encoding': 'gzip' },
    { ...jsonType, 'content-encoding': 'br' },
    { ...jsonType, 'content-encoding': 'identity, gzip' },
    { ...jsonType, 'content-encoding': 'nonsense' },
  ])
  const attempt = to(scene, operation)
  return {
    ...attempt,
    headers: { ...scene.authorized, ...headers },
    fault: 'wrong media type',
    body: '{"name":"x"}',
    status: [415],
  }
}

/** A body above the limit. */
export function tooLarge(scene: Scene, random: Random): Attempt {
  const operation = random.pick(jsonOperations)
  return { ...to(scene, operation), fault: 'body too large', body: `{"x":"${'x'.repeat(10_490_000)}"}`, status: [413] }
}

function to(scene: Scene, { method, path }: JsonOperation, which: 'kept' | 'playground' = 'kept'): Attempt {
  return {
    fault: '',
    method,
    path: scene.path(path, which),
    headers: { ...scene.authorized, ...jsonType },
    expect: 'refused',
  }
}

/** A body to be refused for one of its fields, a broken or a missing one; or as a whole, when it is deep. */
function refused(scene: Scene, operation: JsonOperation, body: string, broken: readonly string[]): Attempt {
  const deep = /(\{"a":){99}|\[{99}/.test(body)
  const paths = [...above(broken), ...operation.required, ...(deep ? [''] : [])]
  return { ...to(scene, operation), body, status: [400], paths }
}

function addOddities(body: Body, operation: JsonOperation, random: Random): void {
  for (const path of Object.keys(operation.fields)) if (random.chance(0.3)) put(body, path, oddValue(random))
}

/** Sets a value by its pointer; what stands above it and is no object gives way. */
function put(body: Body, path: string, value: unknown): void {
  const names = path.slice(1).split('/')
  let at = body
  for (const name of names.slice(0, -1)) {
    const inner = at[name]
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) at[name] = {}
    at = at[name] as Body
  }
  at[names.at(-1) ?? ''] = value
}

/** A later value may have replaced a former one above it, so each pointer counts with all that lead to it. */
function above(paths: readonly string[]): string[] {
  const leading = (path: string) =>
    path
      .split('/')
      .map((_, n, names) => names.slice(0, n + 1).join('/'))
      .slice(1)
  return [...new Set(paths.flatMap(leading))]
}
