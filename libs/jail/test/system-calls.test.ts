import { execFileSync } from 'node:child_process'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const launcher = fileURLToPath(new URL('../launcher', import.meta.url))
const source = `
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, ${JSON.stringify(launcher)})
import kernel
kernel.IS_ARM = sys.argv[1] == 'aarch64'
import seccomp
sys.stdout.write(seccomp.program(unix_sockets=False).hex())`

const architectures = { x86_64: 0xc000003e, aarch64: 0xc00000b7 }
type Machine = keyof typeof architectures
const allow = 0x7fff0000

/** What the filter of a machine answers to a call whose arguments are all zero: as the kernel would run it. */
function filterOf(machine: Machine): (number: number, architecture?: number) => string {
  const bytes = Buffer.from(execFileSync('python3', ['-I', '-c', source, machine]).toString(), 'hex')
  const steps = Array.from({ length: bytes.length / 8 }, (_, at) => ({
    code: bytes.readUInt16LE(8 * at),
    whenTrue: bytes.readUInt8(8 * at + 2),
    whenFalse: bytes.readUInt8(8 * at + 3),
    value: bytes.readUInt32LE(8 * at + 4),
  }))
  return (number, architecture = architectures[machine]) => {
    let held = 0
    for (let at = 0; ; at += 1) {
      const { code, whenTrue, whenFalse, value } = steps[at]!
      const jump = (isTrue: boolean) => (at += isTrue ? whenTrue : whenFalse)
      if (code === 0x20) held = value === 0 ? number : value === 4 ? architecture : 0
      else if (code === 0x54) held = (held & value) >>> 0
      else if (code === 0x15) jump(held === value)
      else if (code === 0x35) jump(held >= value)
      else if (code === 0x45) jump((held & value) !== 0)
      else if (code === 0x06) return answerOf(value)
      else throw new Error(`a step of an unknown kind: ${code}`)
    }
  }
}

function answerOf(value: number): string {
  if (value === allow) return 'allowed'
  if (value === 0x80000000) return 'killed'
  const found = Object.entries(constants.errno).find(([, number]) => number === (value & 0xffff))
  return found?.[0] ?? `error ${value & 0xffff}`
}

/** Numbers of each answer, as ranges. */
function answers(filter: (number: number) => string, upTo: number): Record<string, string> {
  const ranges: { answer: string; from: number; to: number }[] = []
  for (let number = 0; number <= upTo; number += 1) {
    const answer = filter(number)
    const last = ranges.at(-1)
    if (last?.answer === answer) last.to = number
    else ranges.push({ answer, from: number, to: number })
  }
  const rangesOf: Record<string, string> = {}
  for (const { answer, from, to } of ranges)
    rangesOf[answer] = [rangesOf[answer] ?? [], from === to ? `${from}` : `${from}-${to}`].flat().join(' ')
  return rangesOf
}

// All that was looked at. Without arguments: those of clone, socket and a few others are looked at, too. A number that
// moves from one line to another is a decision: what is newer than 462 is not there until somebody makes it.
const reviewed: Record<Machine, Record<string, string>> = {
  x86_64: {
    EPERM:
      '29-31 64-71 101 103 134-135 139 141-142 144 153-155 159 161 163-173 175-176 179-180 212 220 227 240-246 248-251 256 272 279 298 300 303-305 308 310-314 319-321 323 425-433 438 440 442-443 447-448',
    ENOSYS: '278 335-423 435 451 457-461 463-2000',
    EAFNOSUPPORT: '41 53',
    allowed:
      '0-28 32-40 42-52 54-63 72-100 102 104-133 136-138 140 143 145-152 156-158 160 162 174 177-178 181-211 213-219 221-226 228-239 247 252-255 257-271 273-277 280-297 299 301-302 306-307 309 315-318 322 324-334 424 434 436-437 439 441 444-446 449-450 452-456 462',
  },
  aarch64: {
    EPERM:
      '18 30 39-42 51 58 60 89 92 97 104-106 112 116-119 140 142 161-162 170-171 180-197 217-219 224-225 238-239 241 262 264-266 268 270-274 279-280 282 294 425-433 438 440 442-443 447-448',
    ENOSYS: '75 295-423 435 451 457-461 463-2000',
    EAFNOSUPPORT: '198-199',
    allowed:
      '0-17 19-29 31-38 43-50 52-57 59 61-74 76-88 90-91 93-96 98-103 107-111 113-115 120-139 141 143-160 163-169 172-179 200-216 220-223 226-237 240 242-261 263 267 269 275-278 281 283-293 424 434 436-437 439 441 444-446 449-450 452-456 462',
  },
}

describe.for(['x86_64', 'aarch64'] as const)('the filter of %s', (machine) => {
  const filter = filterOf(machine)

  test('answers every call as it was decided, and knows none that nobody has looked at', () => {
    expect(answers(filter, 2000)).toEqual(reviewed[machine])
  })

  test('has no calls of the older ABI, and ends who comes as another machine', () => {
    for (const number of [0x40000000, 0x40000027, 0x7fffffff, 0xffffffff]) expect(filter(number)).toBe('ENOSYS')
    for (const other of [0x40000003, 0x40000028, 0, machine === 'x86_64' ? 0xc00000b7 : 0xc000003e])
      expect(filter(39, other)).toBe('killed')
  })
})
