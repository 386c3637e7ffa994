import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { postgresPrograms } from '../system/postgres-server.ts'
import { repositoryRoot } from '../system/system.ts'
import { waitUntil } from '../system/wait-until.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'many-ends-'))
  // Its PostgreSQL runs as another user.
  await chmod(folder, 0o755)
})
afterAll(() => rm(folder, { recursive: true }))

// It stands for an S3 server that runs by itself.
const s3 = `#!/bin/sh
echo "$1" >>"$CALLS"
[ "$1" != up ] || echo "export S3_ENDPOINT='http://127.0.0.1:9'"
`

test.runIf(postgresPrograms !== undefined)(
  'a campaign on many replicas that is told to end leaves no server and no folder',
  async () => {
    const made = join(folder, 'made')
    await mkdir(made)
    await chmod(made, 0o755)
    const calls = join(folder, 'calls')
    await writeFile(calls, '')
    await writeFile(join(folder, 's3'), s3, { mode: 0o755 })
    const env = { ...process.env, SERVICES_DIR: folder, TMPDIR: made, CALLS: calls }
    const args = ['e2e/chaos/main.ts', '--shape', 'many', '--strikes', '1']
    const child = spawn(process.execPath, args, { cwd: repositoryRoot, env, stdio: 'ignore' })
    const ended = once(child, 'exit')
    const isUp = async () => (await readFile(calls, 'utf8')) === 'up\n' && (await readdir(made)).length === 2
    await waitUntil('its servers to start', isUp, { timeoutMs: 30_000 })
    child.kill('SIGTERM')
    expect(await ended).toEqual([1, null])
    expect(await readFile(calls, 'utf8')).toBe('up\nclean\n')
    expect(await readdir(made)).toEqual([])
  },
  60_000,
)
