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

const named = (name: string) => (group === undefined ? `${name} (not here: no group can be made)` : name)
const told = async (what: string): Promise<unknown> =>
  JSON.parse((await promisify(execFile)(process.execPath, [program, group!, what])).stdout)

test.skipIf(group === undefined)(
  named('a run that the kernel ends, as the memory of its runner is used up, has failed for that reason'),
  async () =>
    expect(await told('large')).toEqual([
      expect.stringMatching(/^OutOfMemoryError: The memory of the runner, .* run it again, or use less memory$/),
      'the next',
    ]),
)

test.skipIf(group === undefined)(
  named('children that stay hold no more than their runner may, with what the kernel holds for them'),
  async () => expect(await told('many')).toEqual([Array.from({ length: 60 }, (_, n) => n), 0]),
  120_000,
)

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
