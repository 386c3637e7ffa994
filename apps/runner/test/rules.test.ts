import { describe, expect, test } from 'vitest'
import { Environment } from '@automation/service'
import { testContext } from '@automation/testing'
import { FrameReader, frame, type Frame } from '../src/children/frames.ts'
import { childrenToAdd, expectation, sparesTarget, type Demand } from '../src/children/scaling-policy.ts'
import { runTimesOf } from '../src/children/ending.ts'
import { endings, memoryToKeepMb, type Aged } from '../src/children/retirement.ts'
import { maskOf } from '../src/logs/masking.ts'
import { LineSplitter, OutputReader } from '../src/logs/output-reader.ts'
import { excessOf, grantsFor, idleOf } from '../src/runs/slot-grants.ts'
import { createRunner, readRunnerConfig } from '../src/service.ts'
import { platformName } from '../src/dependencies/runner-dependencies.ts'

describe('grants', () => {
  const replica = (
    granted: number,
    running = 0,
    some: { takesSlots?: boolean; wanted?: number; freed?: number } = {},
  ) => ({
    granted,
    running,
    takesSlots: true,
    wanted: 0,
    freed: 0,
    ...some,
  })
  const away = replica(0, 0, { takesSlots: false })
  test.for([
    ['one replica gets all', [replica(0)], 64, [64]],
    ['several share', [replica(0), replica(0), replica(0)], 64, [22, 21, 21]],
    ['who has least comes first', [replica(10), replica(0, 2)], 6, [0, 6]],
    ['one that is away gets none', [replica(0), away], 4, [4, 0]],
    ['nothing is granted twice', [replica(3)], -1, [0]],
    ['nobody is there', [away], 4, [0]],
    ['a slot goes back to whose run it was', [replica(20, 20, { freed: 2 }), replica(22)], 2, [2, 0]],
    ['but to one that has next to none first', [replica(20, 20, { freed: 2 }), replica(7)], 2, [1, 1]],
    ['who wants some comes before all', [replica(20, 20, { wanted: 2 }), replica(0)], 3, [2, 1]],
  ] as const)('%s', ([, replicas, free, expected]) => {
    expect(grantsFor([...replicas], free, 64, false)).toEqual(expected)
  })

  test('the share of one that may still come is kept for it', () => {
    expect(grantsFor([replica(0), away], 64, 64, true)).toEqual([32, 0])
  })

  test.for([
    ['one that has just come gets its reserve of what lies idle', [replica(32), replica(32), replica(0)], [3, 3, 0]],
    ['slots that runs hold are not asked back', [replica(2, 62), replica(0)], [0, 0]],
    ['what is unequal stays', [replica(56), replica(8)], [0, 0]],
    ['one has all there are', [replica(64)], [0]],
    ['nobody is there', [], []],
  ] as const)('balance: %s', ([, replicas, expected]) => {
    expect(excessOf([...replicas], 64)).toEqual(expected)
  })

  test('who wants some gets half of what others have beyond their reserve', () => {
    expect(idleOf([replica(16), replica(5), replica(4, 12), replica(0)], 64, 4)).toEqual([6, 1, 0, 0])
  })
})

test.for([
  ['a run that computed while others did', '9000 6000 200', { ms: 9, heldUpMs: 6, waitedMs: 0.2 }],
  ['one that waited', '41000 0 40000', { ms: 41, heldUpMs: 0, waitedMs: 40 }],
  ['one of which that is not known may have waited all the time', '5000?', { ms: 5, heldUpMs: 0, waitedMs: 5 }],
  ['nothing takes longer than it was there', '900000 0 800000', { ms: 50, heldUpMs: 0, waitedMs: 50 }],
  ['no number', 'x y', { ms: 0, heldUpMs: 0, waitedMs: 0 }],
] as const)('what a run took: %s', ([, text, expected]) => {
  expect(runTimesOf(text, 50)).toEqual(expected)
})

describe('how many children', () => {
  const demand = (given: Partial<Demand>): Demand => ({
    waiting: 1,
    running: 0,
    stuck: 0,
    coming: 0,
    expectedMs: undefined,
    waitsMs: given.expectedMs,
    waitedMs: 0,
    cores: 2,
    ...given,
  })
  test.for([
    ['the first run gets one', demand({}), 1],
    ['nobody waits', demand({ waiting: 0 }), 0],
    ['a herd of short runs waits for one to come free', demand({ waiting: 31, running: 1, expectedMs: 0.2 }), 0],
    ['unknown runs do at first', demand({ waiting: 31, running: 1 }), 0],
    ['then one more is asked for', demand({ waiting: 31, running: 1, waitedMs: 5 }), 1],
    ['one after the other', demand({ waiting: 31, running: 1, coming: 1, waitedMs: 5 }), 0],
    ['quick runs get no more than cores', demand({ waiting: 31, running: 2, expectedMs: 0.5, waitedMs: 50 }), 0],
    ['also on a busy machine', demand({ waiting: 31, running: 2, expectedMs: 0.5, waitedMs: 500 }), 0],
    [
      'middling ones get more when they waited long',
      demand({ waiting: 31, running: 9, expectedMs: 5, waitedMs: 25 }),
      1,
    ],
    ['but not those that compute', demand({ waiting: 31, running: 2, expectedMs: 5, waitsMs: 0.4, waitedMs: 500 }), 0],
    [
      'those that wait for a part of their time do',
      demand({ waiting: 31, running: 2, expectedMs: 5, waitsMs: 3, waitedMs: 500 }),
      1,
    ],
    ['long runs get theirs at once', demand({ waiting: 5, running: 1, coming: 2, expectedMs: 100 }), 3],
    ['when all are stuck, one', demand({ waiting: 31, running: 1, stuck: 1, waitedMs: 25 }), 1],
    ['then twice as many at each look', demand({ waiting: 31, running: 2, stuck: 2, coming: 6, waitedMs: 40 }), 8],
    ['but not more than wait', demand({ waiting: 9, running: 2, stuck: 2, coming: 6, waitedMs: 40 }), 3],
  ] as const)('%s', ([, given, expected]) => {
    expect(childrenToAdd(given)).toBe(expected)
  })

  test('the expectation follows what runs take, and spares what was taken', () => {
    expect(expectation(undefined, 10)).toBe(10)
    expect(expectation(10, 20)).toBe(12)
    expect([0, 2, 50].map((taken) => sparesTarget(1, taken))).toEqual([1, 3, 4])
    expect(sparesTarget(0, 0)).toBe(0)
  })
})

describe('which children end', () => {
  const limits = { idleMs: 60_000, keptMs: 900_000, maxAgeMs: 3_600_000, memoryMb: 4096 }
  const child = (given: Partial<Aged> = {}): Aged => ({
    state: 'idle',
    startedAt: 0,
    freeSince: 90_000,
    memoryMb: 40,
    program: 'a',
    isCalledAgain: false,
    ...given,
  })
  const count = (children: Aged[], now: number, toKeepMb = 512) => endings(children, now, limits, toKeepMb).length

  test('long idle, old and large ones', () => {
    expect(count([child(), child({ freeSince: 30_000 }), child({ memoryMb: 300 })], 91_000)).toBe(2)
    expect(count([child({ freeSince: 3_599_000 })], 3_600_000)).toBe(1)
  })

  test('of what is called every few minutes one child stays, where it is small and there is memory', () => {
    const again = (program: string, memoryMb = 40) => child({ program, memoryMb, isCalledAgain: true })
    const minutesLater = 90_000 + 5 * 60_000
    expect(count([again('a'), again('b'), again('b'), child()], minutesLater)).toBe(2)
    expect(count([again('a', 100), again('b')], minutesLater)).toBe(1)
    expect(count([again('a'), again('b'), again('c')], minutesLater, 100)).toBe(1)
    expect(count([again('a'), again('b')], minutesLater, 0)).toBe(2)
    expect(count([again('a')], 90_000 + 15 * 60_000)).toBe(1)
    const GB = 1024
    expect(memoryToKeepMb(4 * GB, { free: 4 * GB, total: 8 * GB })).toBe(512)
    expect(memoryToKeepMb(4 * GB, { free: GB, total: 8 * GB })).toBe(0)
  })

  test('all but a few when nothing runs', () => {
    const many = Array.from({ length: 10 }, () => child())
    expect(count(many, 91_000)).toBe(0)
    expect(count(many, 96_000)).toBe(6)
    expect(count([...many, child({ state: 'running' })], 96_000)).toBe(0)
  })

  test('those that do not come', () => {
    expect(count([child({ state: 'starting', startedAt: 85_000 })], 94_000)).toBe(0)
    expect(count([child({ state: 'starting', startedAt: 85_000 })], 95_000)).toBe(1)
  })

  test('those that look at themselves for too long', () => {
    expect(count([child({ state: 'checking' })], 91_000)).toBe(0)
    expect(count([child({ state: 'checking' })], 92_500)).toBe(1)
  })
})

describe('frames from a child', () => {
  const payload = Buffer.from('0700000061626364', 'hex')
  const bytes = Buffer.concat([frame(86, payload), frame(86, payload), frame(69, payload)])

  test.for([1, 2, 3, 7, 11, 1000])('are whole, however they come: %i bytes at a time', (size) => {
    const frames: Frame[] = []
    const reader = new FrameReader(100, (each) => frames.push(each), expect.fail)
    for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size))
    expect(frames.map(({ type, run, payload: text }) => [type, run, text.toString()])).toEqual([
      [86, 7, 'abcd'],
      [86, 7, 'abcd'],
      [69, 7, 'abcd'],
    ])
  })

  test.for(['00000000', '01000000aa', 'ffffffff'])('a length out of bounds (%s) ends the reading', (hex) => {
    const faults: string[] = []
    const reader = new FrameReader(
      100,
      () => expect.fail(),
      (words) => faults.push(words),
    )
    for (const byte of Buffer.from(hex, 'hex')) reader.push(Buffer.from([byte]))
    reader.push(Buffer.alloc(1000))
    expect(faults).toHaveLength(1)
  })
})

describe('what is printed', () => {
  test.for([1, 2, 5, 1000])('records and raw bytes are told apart: %i bytes at a time', (size) => {
    const seen: [number, string][] = []
    const reader = new OutputReader((level, text) => seen.push([level, text]))
    const record = Buffer.concat([
      Buffer.from('ff00fe01', 'hex'),
      Buffer.from([3]),
      Buffer.alloc(8),
      Buffer.from([5, 0, 0, 0]),
      Buffer.from('a\nü!'),
    ])
    const bytes = Buffer.concat([Buffer.from('raw\npart'), record, Buffer.from('ff00fe', 'hex'), Buffer.from('x\nend')])
    for (let at = 0; at < bytes.length; at += size) reader.standardOutput(bytes.subarray(at, at + size))
    reader.end(false)
    expect(seen).toEqual([
      [2, 'raw'],
      [2, 'part'],
      [3, 'a\nü!'],
      [2, '\uFFFD\0\uFFFDx'],
      [2, 'end'],
    ])
  })

  test('of a line without end only the start is kept', () => {
    const seen: [number, boolean][] = []
    const splitter = new LineSplitter((text, wasCut) => seen.push([text.length, wasCut]))
    for (let each = 0; each < 100; each += 1) splitter.push(Buffer.alloc(10_000, 97))
    splitter.push(Buffer.from('\nb\n'))
    expect(seen).toEqual([
      [192 * 1024, true],
      [1, false],
    ])
  })
})

test('secrets are masked longest first, short ones not at all', () => {
  const mask = maskOf(['abcd', 'abcdef', 'abc', '$1.*'])
  expect(mask('abc abcd abcdef $1.* x')).toBe('abc ****** ****** ****** x')
  expect(maskOf(['abc'])('abc')).toBe('abc')
})

test('a second name that is no identifier is refused at start, by its setting', () => {
  const env = new Environment({ CODE_GLOBAL_ALIAS: 'not-one', RUNNER_SLOTS: '0' })
  readRunnerConfig(env)
  expect(() => env.check()).toThrow(/CODE_GLOBAL_ALIAS[^]*RUNNER_SLOTS/)
})

test('without Python the runner says what it needs', async () => {
  const config = readRunnerConfig(new Environment({ RUNNER_PYTHON: 'no-such-python' }))
  await expect(createRunner(config, testContext()).start()).rejects.toThrow(
    /needs Python 3 .*no-such-python.*RUNNER_PYTHON/,
  )
})

const linuxMachine = { platform: 'linux', architecture: 'x64', glibcVersion: '2.36' }

test.each([
  [linuxMachine, 'linux-x64-glibc2.36'],
  [{ ...linuxMachine, glibcVersion: '2.39' }, 'linux-x64-glibc2.39'],
  [{ ...linuxMachine, glibcVersion: undefined }, 'linux-x64-musl'],
  [{ ...linuxMachine, architecture: 'arm64' }, 'linux-arm64-glibc2.36'],
  [{ platform: 'darwin', architecture: 'arm64', glibcVersion: undefined }, 'darwin-arm64'],
])('machines that can not use the same builds have names of their own: %j', (machine, name) => {
  expect(platformName(machine)).toBe(name)
})
