import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileBytes, processOf } from '@automation/jail'
import { expect, test } from 'vitest'

const own = processOf(process.pid)

test('files on a disk hold no memory', () => {
  expect(fileBytes(own, ['/usr'])).toBe(0)
})

test('files in memory do', () => {
  const directory = mkdtempSync('/dev/shm/memory-')
  writeFileSync(join(directory, 'file'), Buffer.alloc(1_000_000, 1))
  expect(fileBytes(own, ['/dev/shm'])).toBeGreaterThanOrEqual(1_000_000)
  rmSync(directory, { recursive: true })
})
