/** A runner as a program of its own, with a run that goes on and leaves processes; tells the place of its files. */
import { flushCompileCache } from 'node:module'
import { until } from '@automation/testing'
import { startRunnerWith } from './runner-under-test.ts'

const [marker = '', settings = '{}'] = process.argv.slice(2)
const { replica } = await startRunnerWith({ children: { spares: 2 } }, JSON.parse(settings) as Record<string, string>)
// Else the next one of these compiles it all again.
flushCompileCache()
const { id } = replica.hand(`
  const { spawn, execSync } = require('child_process')
  process.on('SIGTERM', () => {})
  spawn('setsid', ['sh', '-c', 'trap "" TERM; sleep ${marker}; sleep ${marker}'], { detached: true, stdio: 'ignore' }).unref()
  execSync('(setsid sleep ${marker} >/dev/null 2>&1 &)')
  require('fs').writeFileSync('file', 'x')
  console.log('spawned')
  for (;;);`)
await until(() => replica.logOf(id).length > 0)
process.stdout.write('running\n')
