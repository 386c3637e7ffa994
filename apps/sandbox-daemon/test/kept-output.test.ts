import { expect, test } from 'vitest'
import { KeptOutput } from '../src/commands/kept-output.ts'

const written = 600_000

test('of a command that writes single bytes to both outputs in turn few pieces are kept, and all is told or lost', async () => {
  const kept = new KeptOutput()
  for (let count = 0; count < written / 2; count += 1) {
    kept.push({ case: 'standardOutput', value: Buffer.from('o') })
    kept.push({ case: 'standardError', value: Buffer.from('e') })
  }
  kept.push({ case: 'ended', value: { exitCode: 0, timedOut: false } })
  let [pieces, told, lost] = [0, '', 0]
  for await (const each of kept.read(new AbortController().signal)) {
    if (each.case === 'lost') lost += Number(each.value)
    else if (each.case !== 'ended') told += each.value.toString()
    pieces += 1
    if (pieces > 3000) break
  }
  expect(pieces).toBeLessThanOrEqual(3000)
  expect(lost + told.length).toBe(written)
  expect(told).toBe('oe'.repeat(told.length / 2))
})
