import { readHeaders } from '../src/options/repeated.ts'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { duration, timeOrAgo } from '../src/options/duration.ts'
import { parseLossless } from '../src/exact-json.ts'
import { linesOf } from '../src/lines.ts'
import { readParameters } from '../src/options/parameters.ts'
import { tableOf } from '../src/output/table.ts'
import { oneLine } from '../src/output/plain-text.ts'
import type { Runtime } from '../src/runtime.ts'
import { isWanted, levelOf } from '../src/runs/log-filter.ts'
import { StandIn } from './stand-in.ts'

describe('options', () => {
  test('headers are as curl takes them, of any script; those of one name are joined', () => {
    expect(readHeaders(['X-A: Łukasz', 'x-a:b', 'X-Empty:'])).toEqual({ 'x-a': 'Łukasz, b', 'x-empty': '' })
    expect(readHeaders(['Cookie: a=1', 'cookie: b=2', 'constructor: x', '__proto__: y'])).toEqual(
      Object.fromEntries([
        ['cookie', 'a=1; b=2'],
        ['constructor', 'x'],
        ['__proto__', 'y'],
      ]),
    )
    expect(() => readHeaders(['none'])).toThrow('A header is "Name: value"')
  })

  test.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['1h30m', 5_400_000],
    ['2d', 172_800_000],
    ['1.5s', 1500],
    ['1.1h', 3_960_000],
    ['0.4ms', 0],
  ])('the duration %s is %i ms', (text, ms) => expect(duration(text)).toBe(ms))

  test.each(['5', '', 's', '1x', '1h 5m', '-1s'])('the duration "%s" is refused', (text) =>
    expect(() => duration(text)).toThrow('500ms, 30s'),
  )

  test('a time is so long ago, or as it is written', () => {
    expect(timeOrAgo('2026-11-24T08:00:00+01:00')).toBe('2026-11-24T07:00:00.000Z')
    const hourAgoMs = Date.parse(timeOrAgo('1h'))
    expect(Date.now() - hourAgoMs).toBeGreaterThanOrEqual(3_600_000)
    for (const text of ['yesterday', '90', '2026-13', '9999999999d']) expect(() => timeOrAgo(text)).toThrow('1h, 2d')
  })

  test('the end of a token is so long from now, or a time; a number alone is neither', async () => {
    let sent: { expiresAt?: string } = {}
    await using standIn = await StandIn.that(async (request, response) => {
      sent = JSON.parse((await buffer(request)).toString()) as typeof sent
      response.writeHead(201, { 'content-type': 'application/json' }).end('{}')
    })
    const create = (expires: string) => standIn.start(['tokens', 'create', 'x', '--expires', expires]).ended
    expect([(await create('90')).code, standIn.requests]).toEqual([2, []])
    await create('2099-01-31')
    expect(sent.expiresAt).toBe('2099-01-31T00:00:00.000Z')
    await create('90d')
    expect(Date.parse(sent.expiresAt!) - Date.now()).toBeGreaterThan(89 * 86_400_000)
  })

  test('parameters are texts or JSON, over those of the file', async () => {
    const runtime = { stdin: Readable.from(['{"name": "file", "kept": true}']) } as unknown as Runtime
    const parameter = ['name=Ada=B', 'count:=3', 'tags:=["a"]', 'zip=01234']
    expect(await readParameters(runtime, { parameter, file: '-' })).toEqual({
      ...{ name: 'Ada=B', kept: true, count: 3, tags: ['a'], zip: '01234' },
    })
    expect(await readParameters(runtime, {})).toBeUndefined()
    expect(JSON.stringify(await readParameters(runtime, { parameter: ['id:=12345678901234567890', 'n:=1.0'] }))).toBe(
      '{"id":12345678901234567890,"n":1.0}',
    )
    await expect(readParameters(runtime, { parameter: ['name'] })).rejects.toThrow('NAME=TEXT or NAME:=JSON')
    await expect(readParameters(runtime, { parameter: ['n:=x'] })).rejects.toThrow('the parameter n is no JSON')
    const number = { stdin: Readable.from(['1.0']) } as unknown as Runtime
    await expect(readParameters(number, { file: '-' })).rejects.toThrow('stdin must hold a JSON object')
  })
})

describe('what is shown', () => {
  test('texts of others write nowhere but in their place', () => {
    expect(oneLine('a\u001b[2Jb\r\nc')).toBe('ab c')
    const items = ['x\u001b]0;title\u0007\ny', '\u001b[8mhidden\u001b[m', 'plain']
    const table = tableOf(items, [{ title: 'name', of: (name) => name }])
    // oxlint-disable-next-line no-control-regex -- it is them that must not be there
    expect(table).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/)
    expect(table).toMatch(/^NAME\nx.*y\nhidden\nplain$/)
  })

  test('a level takes those above it along, and has short names', () => {
    const levels = ['DEBUG', 'INFO', 'WARNING', 'ERROR'] as const
    const entry = (level: (typeof levels)[number]) => ({
      timestamp: '2026-11-24T08:00:00Z',
      level,
      message: 'time out',
    })
    const shown = levels.filter((level) => isWanted(entry(level), { level: levelOf('warn') }))
    expect(shown).toEqual(['WARNING', 'ERROR'])
    expect(isWanted(entry('INFO'), { grep: /time ?out/u, since: '2026-11-24T07:00:00Z' })).toBe(true)
    expect(isWanted(entry('INFO'), { since: '2026-11-24T09:00:00Z' })).toBe(false)
    expect(() => levelOf('loud')).toThrow('DEBUG, INFO, WARNING, ERROR')
  })
})

describe('large answers', () => {
  test('a line that comes in many pieces is one line, and takes as long as it is', async () => {
    const piece = Buffer.from('é'.repeat(32 * 1024))
    const pieces = Array.from({ length: 1024 }, () => piece)
    const ends = [Buffer.from('\r\nb\n\nc\n'), Buffer.from('d\r')]
    const lines = await Array.fromAsync(linesOf(Readable.from([...pieces, ...ends])))
    expect(lines.map((line) => line.length)).toEqual([1024 * 32 * 1024, 1, 0, 1, 2, 0])
    expect(lines.slice(1)).toEqual(['b', '', 'c', 'd\r', ''])
  }, 5000)

  test('JSON is read however deep it is', () => {
    const deep = `${'['.repeat(100_000)}1${']'.repeat(100_000)}`
    expect(parseLossless(deep)).toHaveLength(1)
    expect(parseLossless(`["01a9e123-4567-4abc-8def-1234567891e2",${deep}]`)).toHaveLength(2)
  })

  test('numbers that would lose digits keep them, and all others are those of JavaScript', () => {
    const kept = '[0.12345678901234567891,-1234567890.12345678,1e400,9007199254740993]'
    expect(JSON.stringify(parseLossless(kept))).toBe(kept)
    expect(parseLossless('[0.30000000000000004,1.50000000000000000,1e-300]')).toEqual([0.1 + 0.2, 1.5, 1e-300])
  })
})
