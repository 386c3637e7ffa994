import { LogLevel } from '@automation/contract/execution/v1/execution'
import { expect, test } from 'vitest'
import { OutputReader } from '../src/logs/output-reader.ts'

function record(kind: number, number: number, text = ''): Buffer {
  const head = Buffer.alloc(17)
  head.set([0xff, 0x00, 0xfe, 0x01, kind])
  head.writeDoubleLE(number, 5)
  head.writeUInt32LE(Buffer.byteLength(text), 13)
  return Buffer.concat([head, Buffer.from(text)])
}

const fence = (number: number) => record(17, number)
const log = (text: string) => record(LogLevel.INFO, 0, text)
const output = Buffer.concat([log('a'), fence(1), fence(2), log('b'), fence(3), Buffer.from('o\n'), fence(4), log('c')])
const errors = Buffer.concat([fence(1), Buffer.from('e\n'), fence(2), fence(3), fence(4)])

function reader() {
  const seen: string[] = []
  return { seen, reader: new OutputReader((_level, text) => seen.push(text)) }
}

test.for([1, 7, 17, 40, 1000])('fences keep the order, whatever is read first, in pieces of %i bytes', (size) => {
  for (const outputFirst of [true, false]) {
    const { seen, reader: under } = reader()
    const pieces = (bytes: Buffer, take: (piece: Buffer) => void) => {
      for (let at = 0; at < bytes.length; at += size) take(bytes.subarray(at, at + size))
    }
    if (outputFirst) pieces(output, (piece) => under.standardOutput(piece))
    pieces(errors, (piece) => under.standardError(piece))
    if (!outputFirst) pieces(output, (piece) => under.standardOutput(piece))
    expect(seen).toEqual(['a', 'e', 'b', 'o', 'c'])
  }
})

test('what it keeps is its own: the memory of what it was given may be used again', () => {
  const { seen, reader: under } = reader()
  const all = Buffer.concat([
    Buffer.from('whole\nhalf'),
    Buffer.from(' line\n'),
    log('a record'),
    fence(1),
    Buffer.from('o'),
  ])
  for (let at = 0; at < all.length; at += 9) {
    const piece = Buffer.from(all.subarray(at, at + 9))
    under.standardOutput(piece)
    piece.fill(0)
  }
  under.end(false)
  expect(seen).toEqual(['whole', 'half line', 'a record', 'o'])
})

test('what waits for a fence that never comes is there at the end', () => {
  const { seen, reader: under } = reader()
  under.standardOutput(output)
  expect(seen).toEqual(['a'])
  under.end(false)
  expect(seen).toEqual(['a', 'b', 'o', 'c'])
})

test('what waits costs no more when it comes in very many pieces', () => {
  const { seen, reader: under } = reader()
  under.standardOutput(fence(1))
  const piece = Buffer.from('x')
  const since = performance.now()
  for (let count = 0; count < 500_000; count += 1) under.standardOutput(piece)
  // Copied once for each piece, this would be 125 GB.
  expect(performance.now() - since).toBeLessThan(5000)
  under.standardError(fence(1))
  under.end(false)
  expect(seen).toEqual([expect.stringMatching(/^x{65536}/)])
})

test('only so much waits', () => {
  const { seen, reader: under } = reader()
  under.standardOutput(fence(1))
  for (let count = 0; count < 40; count += 1) under.standardOutput(Buffer.alloc(64 * 1024, 'x\n'))
  expect(seen.length).toBeGreaterThan(500_000)
})

const fatal = '\n\n#\n# Fatal process out of memory: Zone\n#\n----- Native stack trace -----\n\n 1: 0x840e50  [node]\n'

test.for([1, 9, 1000])(
  'what Node says of its own death is left out where the process died: pieces of %i bytes',
  (size) => {
    const { seen, reader: under } = reader()
    const all = Buffer.from(`mine\n${fatal}`)
    for (let at = 0; at < all.length; at += size) under.standardError(all.subarray(at, at + size))
    expect(under.diedOfMemory).toBe(true)
    under.end(true)
    expect(seen).toEqual(['mine'])
  },
)

test('where the process goes on, its reason and the lines that others print around it stay', () => {
  const { seen, reader: under } = reader()
  under.standardError(Buffer.from(`${fatal}mine\n${'a line\n'.repeat(300)}`))
  under.end(false)
  expect(seen).toEqual(['# Fatal process out of memory: Zone', 'mine', ...Array<string>(300).fill('a line')])
})

test('of what comes behind words of a death no more is kept back than a death may say', () => {
  const { seen, reader: under } = reader()
  under.standardError(Buffer.from(`FATAL ERROR: v8::\n${`${'€'.repeat(1000)}\n`.repeat(100)}`))
  expect(seen.length).toBe(101)
  under.standardError(Buffer.from(`FATAL ERROR: v8::${'x'.repeat(100_000)}\n`))
  expect(seen.length).toBe(102)
})

test('lines that only look like a death are those of whoever prints them', () => {
  const { seen, reader: under } = reader()
  under.standardError(Buffer.from('\n#\n# a heading\n\nFATAL ERROR: no database\n----- summary -----\n'))
  under.end(true)
  expect(seen).toEqual(['', '#', '# a heading', '', 'FATAL ERROR: no database', '----- summary -----'])
})
