import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { repositoryRoot, runScript } from '../system/system.ts'
import type { Release } from './release.ts'

/** Makes a team in a release as its operator does, over a forwarded port, and gives its API token. */
export async function makeTeam(release: Release, team: string): Promise<string> {
  const service = await release.serviceOf('process-catalog')
  const forward = spawn('kubectl', ['port-forward', '--namespace', release.namespace, `service/${service}`, ':9101'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [line] = (await once(createInterface(forward.stdout), 'line')) as [string]
    const address = /127\.0\.0\.1:\d+/.exec(line)?.[0]
    if (address === undefined) throw new Error(`kubectl port-forward said ${line}`)
    const env = {
      PATH: `${repositoryRoot}/node_modules/.bin:${process.env['PATH'] ?? ''}`,
      HOME: process.env['HOME'] ?? '/',
      CATALOG_ADDRESS: address,
      INTERNAL_KEY: await release.secret('INTERNAL_KEY'),
    }
    await admin(env, 'teams', 'create', team)
    return (await admin(env, 'tokens', 'create', team, '--name', 'e2e')).trim()
  } finally {
    forward.kill()
  }
}

async function admin(env: Record<string, string>, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runScript('admin', args, env)
  if (code !== 0) throw new Error(`admin ${args.join(' ')} ended with ${code}: ${stderr || stdout}`)
  return stdout
}
