import type { Random } from '../system/random.ts'
import type { FieldKind } from './json-operations.ts'

const notText = [5, 0, -1.5, true, false, [], ['x'], {}, { a: 1 }, [[[]]]]
const notRecord = ['x', '', 5, true, [], [{}], 1e300]

/** Values that a field of this kind must refuse. */
const breaking: Record<FieldKind, readonly unknown[]> = {
  text: notText,
  flag: ['yes', 'true', 1, 0, [], {}, '', [true]],
  record: notRecord.filter((value) => value !== ''),
  words: ['x', 5, true, {}, { 0: 'a' }, [5], [null], ['a', {}], [['a']], [true]],
  dictionary: ['x', 5, true, [], ['a'], { a: 5 }, { a: {} }, { a: [] }, { a: true }],
  language: ['RUBY', 'javascript', 'JAVASCRIPT ', 5, {}, [], true],
  timeoutMs: ['x', '1000', 99, 0, -1, 1000.5, 1e99, 3_600_001, true, {}, []],
  lifetimeMs: ['x', '300000', 999, 0, -1, 1000.5, 1e99, 86_400_001, true, {}, []],
  ports: ['x', 80, true, {}, ['80'], [0], [-1], [65_536], [80, 80], [1.5], [null], [[80]], [{}]],
  parameters: [5, true, [], [{}], 'text', '[1]', '{', '{"a":}', 'null1', '"x"', '1'],
  schema: [
    5,
    true,
    [],
    '[',
    '{"type":',
    { type: 'nope' },
    { type: 5 },
    { required: 'x' },
    '{"properties":5}',
    { minimum: 'x' },
    { items: 7 },
  ],
  schemaForm: [5, true, [], [{}]],
  linkLifetimeS: ['x', '3600', 0, -1, 604_801, 1.5, 1e99, true, {}, []],
}

/** A value that breaks a field of this kind for sure. */
export function breakingValue(kind: FieldKind, random: Random): unknown {
  return random.pick(breaking[kind])
}

const odd: readonly (() => unknown)[] = [
  () => null,
  () => '',
  () => ' ',
  () => 'a\u0000b',
  () => '\u0000',
  () => '\ud800',
  () => 'x\udc00y',
  () => '\ufeff\u202e\u200b',
  () => '🙂'.repeat(50),
  () => 'x'.repeat(100_000),
  () => 'é'.repeat(300),
  () => '../../etc/passwd',
  () => "'; DROP TABLE executions; --",
  () => '%00%0d%0aSet-Cookie: a=b',
  () => 'line\r\nInjected: 1',
  () => '${7*7}{{7*7}}<%= 7 %>',
  () => '<script>alert(1)</script>',
  () => '__proto__',
  () => 'constructor',
  () => '-1',
  () => 'NaN',
  () => '2147483648',
  () => nested(2000),
  () => Array.from({ length: 2000 }, () => 'x'),
  () => ({ toString: 'x', valueOf: 1, constructor: { prototype: { polluted: true } } }),
]

/** A value that some field may take and another may not; never an error of the service. */
export function oddValue(random: Random): unknown {
  return random.pick(odd)()
}

/** An id for a path, as nobody forms it; already encoded for a request line. */
export function oddSegment(random: Random): string {
  return random.pick([
    '%00',
    'a%00b',
    '%2e%2e',
    '%2e%2e%2f%2e%2e%2fteam',
    '..%5c..%5c',
    '%c0%ae%c0%ae',
    '%ff%fe',
    '%',
    '%zz',
    '%u0000',
    '%0d%0aSet-Cookie:%20a=b',
    'x'.repeat(5000),
    '%F0%9F%99%82',
    ';a=b',
    "';--",
    '%22%3E%3Cscript%3E',
    '__proto__',
    'constructor',
    'toString',
    'null',
    'undefined',
    '-1',
    '0',
    '1e309',
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    '0190a0b0-0000-7000-8000-00000000000g',
    '{}',
    '%5B%5D',
    '*',
    '%25',
    '%2500',
    '.',
    '...',
    '~',
    '%20',
    '+',
  ])
}

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level += 1) value = { a: value }
  return value
}
