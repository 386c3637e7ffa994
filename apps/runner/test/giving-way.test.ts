import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { CpuGroups } from '@automation/jail'
import { until } from '@automation/testing'
import { expect, test } from 'vitest'
import { startRunner } from './runner-under-test.ts'

const groups = CpuGroups.find('runner')
const settings = { WALL: 'namespaces', WALL_NONE_MANY_TEAMS: 'true' }
// In a jail a child has the number of its launcher.
const program = 'const since = Date.now(); while (Date.now() - since < svc.context.parameters.ms); return process.pid'

test.skipIf(groups === undefined)(
  'a run that computes gets what others leave, until its program has become short',
  async () => {
    const under = await startRunner(settings)
    const taking = (ms: number) => under.replica.run(program, { parameters: { ms } })
    const group = (await taking(1)).value
    expect(isLow(group)).toBe(false)
    const long = taking(1500)
    await until(() => isLow(group), { what: 'it gives way' })
    expect((await long).value).toBe(group)
    expect(isLow(group)).toBe(true)
    const isUsual = async () => (await taking(1)).value === group && !isLow(group)
    await until(isUsual, { what: 'its program has become short' })
    await under.stop()
  },
)

test.skipIf(groups === undefined)('a run that waits has the usual weight', async () => {
  const under = await startRunner(settings)
  const { value } = await under.replica.run('await new Promise((go) => setTimeout(go, 600)); return process.pid')
  expect(isLow(value)).toBe(false)
  await under.stop()
})

test.skipIf(groups === undefined)('children that have ended leave no group', async () => {
  const under = await startRunner(settings)
  await under.replica.run('return 1')
  expect(all()).not.toEqual([])
  await under.stop()
  expect(all()).toEqual([])
})

/** The groups of the children of this process. */
function all(): string[] {
  return groups!.prefixes.flatMap((prefix) =>
    readdirSync(dirname(prefix)).filter((name) => name.startsWith(basename(prefix))),
  )
}

/** Whether it has less than the usual weight, however the kernel says it. */
function isLow(launcher: unknown): boolean {
  const group = `${groups!.prefixes[0]!}${String(launcher)}`
  const [file, usual] = existsSync(`${group}/cpu.shares`) ? ['cpu.shares', 1024] : ['cpu.weight', 100]
  return Number(readFileSync(`${group}/${file}`, 'latin1')) < usual
}
