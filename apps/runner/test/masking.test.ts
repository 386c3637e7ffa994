import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { maskOf } from '../src/logs/masking.ts'

const secret = `pä&s "w/ö\\rd=?+~!'x`
const bytes = Buffer.from(secret)
const percent = (encode: (byte: string) => string) => bytes.toString('hex').replace(/../g, encode)
const unicode = (each: string) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`
const escaped = (text: string) => text.replace(/[^\x20-\x7e]/g, unicode)
const base64 = (before: string, after: string) => Buffer.from(before + secret + after).toString('base64')

const forms: [form: string, text: string][] = [
  ['plain', secret],
  ['base64', bytes.toString('base64')],
  ['base64 for URLs', bytes.toString('base64url')],
  ...['', 'u', 'us', 'user:'].flatMap((before): [string, string][] => [
    [`base64 behind '${before}'`, base64(before, '')],
    [`base64 between '${before}' and more`, base64(before, ' and more')],
    [`base64 for URLs behind '${before}'`, Buffer.from(before + secret).toString('base64url')],
  ]),
  ['encodeURIComponent', encodeURIComponent(secret)],
  ['encodeURI', encodeURI(secret)],
  ['a form', new URLSearchParams({ secret }).toString()],
  ['a URL with lower hex', encodeURIComponent(secret).replace(/%../g, (each) => each.toLowerCase())],
  ['each byte in a URL', percent((byte) => `%${byte}`)],
  ['twice encoded', encodeURIComponent(encodeURIComponent(secret))],
  ['JSON', JSON.stringify({ secret })],
  ['JSON in JSON', JSON.stringify(JSON.stringify({ secret }))],
  ['JSON in JSON in JSON', JSON.stringify(JSON.stringify(JSON.stringify({ secret })))],
  ['JSON in ASCII', escaped(JSON.stringify(secret))],
  ['JSON with escaped slashes', JSON.stringify(secret).replaceAll('/', '\\/')],
  ['every character escaped', secret.replace(/[^]/g, unicode)],
  ['inspected', inspect({ secret })],
  ['repr of bytes in Python', percent((byte) => `\\x${byte}`)],
  ['repr in Python', `'${secret.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`],
  ['base64 in JSON with escaped slashes', JSON.stringify(bytes.toString('base64')).replaceAll('/', '\\/')],
  ['hex', bytes.toString('hex')],
  ['upper hex', bytes.toString('hex').toUpperCase()],
  ['a Buffer', inspect(bytes)],
]

describe('a secret is hidden', () => {
  const mask = maskOf([secret])

  test.for(forms)('in the form %s', ([, text]) => {
    const [, head, tail] = /^before (.{0,24})\*{6}(.{0,16}) after$/.exec(mask(`before ${text} after`)) ?? []
    expect([text.slice(0, head?.length), text.slice(text.length - (tail?.length ?? 0))]).toEqual([head, tail])
  })

  test('whatever its length, and however often', () => {
    expect(maskOf(['abcd'])('abcd')).toBe('******')
    expect(maskOf(['abcd'])('abcdabcdabcd')).toBe('******')
    expect(maskOf(['x'.repeat(5000)])('x'.repeat(5000))).toBe('******')
    expect(maskOf(['abcdef', 'defghi'])('-abcdefghi-')).toBe('-******-')
  })

  test('with its line break or without', () => {
    expect(maskOf(['hush-hush\n'])('it is hush-hush.')).toBe('it is ******.')
  })

  test('in wrapped base64', () => {
    const long = Array.from({ length: 40 }, (_, at) => `word${at}`).join(' ')
    const wrapped = Buffer.from(long)
      .toString('base64')
      .match(/.{1,76}/g)!
    for (const line of wrapped) expect(maskOf([long])(line)).toMatch(/^\*{6}=*$/)
  })

  test('of which the end is missing', () => {
    const long = Array.from({ length: 3000 }, (_, at) => `word${at}`).join(' ')
    const masked = maskOf([long])
    expect(masked(inspect({ long }))).toMatch(/^\{\n? *long: '\*{6}'\.\.\. \d+ more characters\n? *\}$/)
    expect(masked(`Error: ${long.slice(0, 100)}… (cut)`)).toBe('Error: ******… (cut)')
    for (const length of [3, 8, 15, 16, 17, 40]) {
      const shown = masked(`${'.'.repeat(50)}${long.slice(0, length)}`, true)
      expect(shown).toBe(length < 4 ? `${'.'.repeat(50)}${long.slice(0, length)}` : `${'.'.repeat(50)}******`)
    }
    expect(masked(long.slice(0, 40))).toBe(long.slice(0, 40))
  })
})

test('a text that only looks like a secret is left as it is', () => {
  const mask = maskOf(['correct horse', 'cGFzcw=='])
  for (const text of [
    'correct hors',
    'a+b%zz \\q \\u12 %',
    '100%',
    'C:\\new\\x',
    '… (cut) and ... 3 more characters',
    '',
  ])
    expect(mask(text)).toBe(text)
})

test.for([
  ['500 variables of 64 KiB', Array.from({ length: 500 }, (_, at) => `${at}-${'ab c/"'.repeat(11_000)}`)],
  ['500 that begin alike', Array.from({ length: 500 }, (_, at) => `${'a'.repeat(60_000)}${at}`)],
  ['one of one character', ['a'.repeat(65_536)]],
  ['10,000 short ones', Array.from({ length: 10_000 }, (_, at) => `k${at}k`)],
] as const)('%s take bounded time and memory', ([, secrets]) => {
  const startedAt = performance.now()
  const mask = maskOf([...secrets])
  const texts = [
    'plain text '.repeat(6000),
    'a'.repeat(65_536),
    `${secrets.at(-1)!} k1k`,
    JSON.stringify(secrets[3] ?? ''),
  ]
  const shown = texts.map((text) => mask(text))
  expect(performance.now() - startedAt).toBeLessThan(30_000)
  expect(shown[0]).toBe(texts[0])
  expect(shown[2]).toMatch(/^\*{6}/)
})

// The longest that a child hands over. Some tens of ms of this thread, whatever else the machine does.
const lineCharacters = 128 * 1024
const lineMaxMs = 1000
const threadMs = () => Object.values(process.threadCpuUsage()).reduce((sum, microseconds) => sum + microseconds) / 1000

test.for([
  ['of one character', ['a'.repeat(65_536)]],
  ['with a space', [`${'a'.repeat(65_000)} b`]],
  ['of backslashes', ['\\'.repeat(65_536)]],
  ['of each length', Array.from({ length: 12 }, (_, at) => 'a'.repeat(4 + at))],
  ['that begin alike', Array.from({ length: 500 }, (_, at) => `${'a'.repeat(60)}${at}${'-'.repeat(60_000)}`)],
] as const)('a line that is made to look like secrets %s takes bounded time', ([, secrets]) => {
  const mask = maskOf([...secrets])
  const alike = Buffer.from('a'.repeat(12)).toString('base64')
  const pieces = [
    'a',
    '%5c',
    '\\\\',
    '%61',
    '%252561',
    '\\x61',
    '\\u{61}',
    'a%61\\x61+',
    `${'a'.repeat(16)}!`,
    alike,
    'a… (cut)',
  ]
  for (const piece of pieces) {
    const line = piece.repeat(lineCharacters / piece.length)
    const startedAt = threadMs()
    mask(line, true)
    expect(threadMs() - startedAt, piece).toBeLessThan(lineMaxMs)
  }
})

test('where looking at a line takes too long, what is not looked at is hidden', () => {
  const secrets = Array.from({ length: 500 }, (_, at) => `${'a'.repeat(60_000)}${at}`)
  const line = `%68ush-hush ${'a'.repeat(60_000)}`
  expect(maskOf([...secrets, 'hush-hush'])(line)).toMatch(/^\*{6}$/)
})

test('a line of many cut marks is masked like any other', () => {
  const mask = maskOf(['a secret value'])
  const text = '… (cut)'.repeat(30_000)
  expect(mask(text)).toBe(text)
  expect(mask(`${text}a secret value`)).toBe(`${text}******`)
})
