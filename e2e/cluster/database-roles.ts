import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { follow } from '@automation/testing/guide'
import { must } from './commands.ts'

const secret = 'database-urls'

/** Whether the guide's commands can be followed here. */
export const canMakeRoles = [
  ['psql', '--version'],
  ['openssl', 'version'],
].every(([program, option]) => spawnSync(program!, [option!], { stdio: 'ignore' }).error === undefined)

/** Makes a role for each service as the guide says, with a Secret of their addresses; gives the chart's values for them. */
export async function makeDatabaseRoles(url: string, namespace: string): Promise<object> {
  const folder = await mkdtemp(join(tmpdir(), 'automation-e2e-roles-'))
  try {
    const { host, pathname } = new URL(url)
    const env = { DATABASE_URL: url, DATABASE_HOST: host, DATABASE_NAME: pathname.slice(1) }
    await follow('database-roles', 'database-roles', env, folder)
    const files = join(folder, 'database-urls')
    await must('kubectl', ['create', 'secret', 'generic', secret, `--from-file=${files}`, '--namespace', namespace])
    const services = await readdir(files)
    return { existingSecret: secret, keys: Object.fromEntries(services.map((service) => [service, service])) }
  } finally {
    await rm(folder, { recursive: true })
  }
}

export const removeDatabaseRoles = (namespace: string): Promise<string> =>
  must('kubectl', ['delete', 'secret', secret, '--namespace', namespace])
