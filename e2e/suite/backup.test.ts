import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { restartedSystem } from './restarted-system.ts'
import { makeProcess } from './runs.ts'
import { shared } from './shared-system.ts'

const guide = new URL('../../docs/guides/operating/backup-and-restore.md', import.meta.url)

/** Runs the commands that the guide has under this name. */
async function follow(name: string, env: Record<string, string>): Promise<void> {
  const [, commands] = new RegExp('^```sh ' + name + '\\n(.*?)^```', 'ms').exec(await readFile(guide, 'utf8')) ?? []
  if (commands === undefined) throw new Error(`The guide has no commands ${name}`)
  await promisify(execFile)('bash', ['-euc', commands], { env: { ...process.env, ...env } })
}

describe.skipIf(!shared.owned)('the guide for backup and restore', { concurrent: false }, () => {
  const restarted = restartedSystem('backup')
  let backup = ''
  beforeAll(async () => {
    backup = await mkdtemp(join(tmpdir(), 'automation-e2e-backups-'))
  })
  afterAll(() => rm(backup, { recursive: true, force: true }))

  test('brings a system on one machine back with its rows and secrets, without what was done later', async () => {
    const env = { BACKUP: backup, DATA_DIR: restarted.dataDir }
    const before = restarted.running()
    const variable = { key: 'SECRET', value: 'kept', isSensitive: true }
    expect((await before.post('/variables', variable)).status).toBe(201)
    const made = await makeProcess({ sourceCode: 'return svc.env.SECRET ?? null' }, before)
    const run = `/processes/${made.id}/execute-sync`
    expect((await before.post(run, {})).body).toBe('kept')
    await restarted.system.stop()
    await follow('backup-data-dir', env)
    await restarted.start()
    const late = await makeProcess({ sourceCode: 'return 1' }, restarted.running())
    await restarted.system.stop()
    await rm(restarted.dataDir, { recursive: true })
    await follow('restore-data-dir', env)
    await restarted.start()
    const after = restarted.running()
    expect((await after.get(`/processes/${late.id}`)).status).toBe(404)
    expect((await after.post(run, {})).body).toBe('kept')
  })
})
