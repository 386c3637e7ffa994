import { must } from './commands.ts'
import type { Release } from './release.ts'

/** The operator's command in a pod of the release, as docs/guides/operating/admin.md has it. */
export async function admin(release: Release): Promise<string> {
  const deployment = `deploy/${await release.serviceOf('process-catalog')}`.replace(/-replicas$/, '')
  const ask = (...args: string[]) =>
    must('kubectl', ['exec', '--namespace', release.namespace, deployment, '--', 'admin', ...args])
  await ask('--help')
  const teams = JSON.parse(await ask('teams', 'list', '--json')) as { slug: string }[]
  if (!teams.some(({ slug }) => slug === release.team)) throw new Error(`no team ${release.team} among ${teams.length}`)
  const token = (await ask('tokens', 'create', release.team, '--name', 'admin')).trim()
  await release.client(release.team, token)
  // By a call of each of the other services.
  const runners = JSON.parse(await ask('runners', 'list', '--json')) as unknown[]
  await ask('usage', '--month', new Date().toISOString().slice(0, 7))
  await ask('rotate-encryption-key', '--status')
  return `${teams.length} teams, ${runners.length} runners, a token that is taken`
}
