/** A runner as a program of its own in a group (cgroup) of little memory; tells how a run ends that wants more. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [group = ''] = process.argv.slice(2)
writeFileSync(join(group, 'cgroup.procs'), String(process.pid))
// It looks for its group when it is loaded.
const { startRunner } = await import('./runner-under-test.ts')
const { replica, stop } = await startRunner({ RUN_MEMORY_MB: '4096' })
const { explanation } = await replica.run('const a = []; for (;;) a.push(Buffer.alloc(16e6, 1))')
const { value } = await replica.run('return "the next"')
await stop()
process.stdout.write(JSON.stringify([explanation, value]))
