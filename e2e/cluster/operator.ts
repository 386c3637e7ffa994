import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { repositoryRoot, runAdmin } from '../system/system.ts'
import type { Release } from './release.ts'

/** The services that an operator calls, by the names of their components. */
const components = {
  catalog: 'process-catalog',
  execution: 'execution',
  storage: 'storage',
  sandbox: 'sandbox',
  scheduler: 'scheduler',
} as const

type Called = keyof typeof components

/**
 * Lets `work` operate a release as its operator does, over forwarded ports, with the environment that the admin command line
 * takes; the ports are closed behind it.
 */
export async function asOperator<T>(
  release: Release,
  called: readonly Called[],
  work: (env: Record<string, string>) => Promise<T>,
): Promise<T> {
  const forwards: Forward[] = []
  try {
    for (const name of called) forwards.push(await forward(release, name))
    return await work({
      PATH: `${repositoryRoot}/node_modules/.bin:${process.env['PATH'] ?? ''}`,
      HOME: process.env['HOME'] ?? '/',
      SERVICE_ADDRESSES: forwards.map(({ name, address }) => `${name}=${address}`).join(),
      INTERNAL_KEY: await release.secret('INTERNAL_KEY', '-keys'),
      INTERNAL_TLS_DIR: release.certificates.folder,
    })
  } finally {
    for (const { close } of forwards) close()
  }
}

export const allCalled = Object.keys(components) as Called[]

interface Forward {
  name: Called
  address: string
  close(): void
}

async function forward(release: Release, name: Called): Promise<Forward> {
  const service = await release.serviceOf(components[name])
  const child = spawn('kubectl', ['port-forward', '--namespace', release.namespace, `service/${service}`, ':grpc'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface(child.stdout)
  const close = () => void child.kill()
  const [line] = (await Promise.race([once(lines, 'line'), once(child, 'close').then(() => ['nothing'])])) as [string]
  const address = /127\.0\.0\.1:\d+/.exec(line)?.[0]
  if (address !== undefined) return { name, address, close }
  close()
  throw new Error(`kubectl port-forward to ${service} said ${line}`)
}

/** Makes teams in a release as its operator does, and gives the API token of each. */
export function makeTeams(release: Release, teams: readonly string[]): Promise<ReadonlyMap<string, string>> {
  return asOperator(release, ['catalog'], async (env) => {
    const tokens = new Map<string, string>()
    for (const team of teams) {
      await admin(env, 'teams', 'create', team)
      const token = await admin(env, 'tokens', 'create', team, '--name', 'e2e', '--scopes', 'executor,admin')
      tokens.set(team, token.trim())
    }
    return tokens
  })
}

async function admin(env: Record<string, string>, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runAdmin(args, env)
  if (code !== 0) throw new Error(`admin ${args.join(' ')} ended with ${code}: ${stderr || stdout}`)
  return stdout
}
