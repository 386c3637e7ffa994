import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const repository = join(import.meta.dirname, '../../..')
const tellsOfModules = `import { registerHooks } from 'node:module'
registerHooks({ load: (url, context, next) => (process.stderr.write(url + '\\n'), next(url, context)) })`

test('the admin command line loads no gateway, no gRPC, no logger and no metrics before it knows what it is to reach', async () => {
  const hooks = `data:text/javascript,${encodeURIComponent(tellsOfModules)}`
  const args = ['--import', hooks, 'apps/embedded/src/admin/main.ts', '--help']
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: repository })
  expect(stdout).toContain('teams')
  const loaded = stderr.split('\n')
  expect(loaded).toEqual(expect.arrayContaining([expect.stringContaining('/apps/admin/src/commands.ts')]))
  expect(
    loaded.filter((url) => /node_modules\/(@grpc|@?hono|zod|pino|prom-client|@opentelemetry)\//.test(url)),
  ).toEqual([])
})
