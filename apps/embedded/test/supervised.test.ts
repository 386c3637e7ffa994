import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createLogger } from '@automation/service'
import { until } from '@automation/testing'
import { expect, onTestFinished, test } from 'vitest'
import { supervise } from '../src/services/supervised.ts'

test('a service that the machine could not start is tried again', async () => {
  const { execPath } = process
  process.execPath = '/no/such/program'
  onTestFinished(() => void (process.execPath = execPath))
  const plan = { name: 'scheduler', env: {}, healthUrl: '' } as const
  const service = supervise(plan, { logger: createLogger({ service: 'test', level: 'silent' }), changed: () => {} })
  onTestFinished(() => service.stop(0))
  process.execPath = execPath
  await until(() => service.starts() > 1)
})

test('a service that could not be started without room for files is tried again', async () => {
  const program = `
    import { closeSync, openSync } from 'node:fs'
    import { supervise } from ${JSON.stringify(new URL('../src/services/supervised.ts', import.meta.url))}
    const codes = []
    const files = []
    const fill = () => { try { for (;;) files.push(openSync('/dev/null')) } catch {} }
    const error = ({ err }) => {
      if (err === undefined) return
      codes.push(err.code)
      if (codes.length === 1) return fill()
      for (const file of files.splice(0)) closeSync(file)
      if (codes.length < 3) return
      console.log(codes.join(' '))
      process.exit()
    }
    process.execPath = '/no/such/program'
    supervise({ name: 'scheduler', env: {}, healthUrl: '' }, { logger: { error }, changed() {} })`
  const args = ['-c', 'ulimit -n 64 && exec "$0" --input-type=module -e "$1"', process.execPath, program]
  const { stdout } = await promisify(execFile)('sh', args, { timeout: 30_000 })
  expect(stdout).toBe('ENOENT EMFILE ENOENT\n')
}, 40_000)
