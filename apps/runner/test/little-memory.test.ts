import { execFile } from 'node:child_process'
import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { until } from '@automation/testing'
import { afterAll, expect, test } from 'vitest'

const program = fileURLToPath(new URL('runner-with-little-memory.ts', import.meta.url))
const group = groupOfLittleMemory()
afterAll(async () => {
  if (group !== undefined) await until(() => isRemoved(group), { what: 'the last process of the group has ended' })
})

const name = 'a run that the kernel ends, as the memory of its runner is used up, has failed for that reason'
test.skipIf(group === undefined)(group === undefined ? `${name} (not here: no group can be made)` : name, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [program, group!])
  expect(JSON.parse(stdout)).toEqual([
    expect.stringMatching(/^OutOfMemoryError: The memory of the runner, .* run it again, or use less memory$/),
    'the next',
  ])
})

/** A group (cgroup) of either kind with 400 MB; undefined where this machine lets nobody make one. */
function groupOfLittleMemory(): string | undefined {
  for (const [root, file] of [
    ['/sys/fs/cgroup/memory', 'memory.limit_in_bytes'],
    ['/sys/fs/cgroup', 'memory.max'],
  ]) {
    const made = `${root}/automation-test-${process.pid}`
    try {
      mkdirSync(made)
      writeFileSync(`${made}/${file}`, '400000000')
      return made
    } catch {
      isRemoved(made)
    }
  }
  return undefined
}

function isRemoved(path: string): boolean {
  try {
    rmdirSync(path)
    return true
  } catch {
    return false
  }
}
