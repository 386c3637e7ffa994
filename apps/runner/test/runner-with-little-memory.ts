/** A runner as a program of its own in a group (cgroup) of little memory; tells how runs end there. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endedForMemory } from '@automation/jail'

const [group = '', what = ''] = process.argv.slice(2)
writeFileSync(join(group, 'cgroup.procs'), String(process.pid))
// It looks for its group when it is loaded.
const { startRunner } = await import('./runner-under-test.ts')
// Children may have ten times what the group has: what bounds them is the group.
const { replica, stop } = await startRunner({ RUN_MEMORY_MB: '4096', RUNNER_CHILDREN_MEMORY_MB: '4000' })

/** One run wants more than there is. */
async function large(): Promise<unknown> {
  const { explanation } = await replica.run('const a = []; for (;;) a.push(Buffer.alloc(16e6, 1))')
  const { value } = await replica.run('return "the next"')
  return [explanation, value]
}

/** Many programs run once each, and their children stay. */
async function many(): Promise<unknown> {
  const before = endedForMemory()
  const values: unknown[] = []
  while (values.length < 60) values.push((await replica.run(`return ${values.length}`)).value)
  return [values, endedForMemory() - before]
}

const told = await (what === 'large' ? large() : many())
await stop()
process.stdout.write(JSON.stringify(told))
