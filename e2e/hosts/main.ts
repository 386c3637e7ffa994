import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { accessTokenOf, Client } from '../client/client.ts'
import { fromNpm } from '../system/fetched-programs.ts'
import { readOptions } from '@automation/testing/options'
import { endOnSignals, repositoryRoot, startSystem, type System } from '../system/system.ts'
import { checksOfN8n, n8nPackages } from './n8n.ts'
import { checksOfNext, nextPackages } from './next.ts'

/** What one host shows, by the guarantee that it is. */
export type Checks = Readonly<Record<string, () => Promise<void>>>

/** What a host has to do with. */
export interface Scene {
  system: System
  client: Client
  /** Where the packages for users are, packed: a folder for each. */
  packed: string
  /** The folder with the host's packages. */
  modules: string
}

interface Host {
  packages: readonly string[]
  prepare(scene: Scene): Promise<{ checks: Checks; end(): Promise<void> }>
}

const hosts: Readonly<Record<string, Host>> = {
  n8n: { packages: n8nPackages, prepare: checksOfN8n },
  next: { packages: nextPackages, prepare: checksOfNext },
}

const help = `npm run test:hosts [-- OPTIONS]

Starts the system and has programs of others host our packages: n8n's engine the node of clients/n8n, which n8n's own rules
are held against, too, and Next.js the route of the guide docs/guides/typescript-client.md. They come from npm into .cache,
at the first time.

  --only NAME   n8n, next
  --help

Ends with 1 when one of them found a fault, with 3 when the registry is not reached.
`

const options = readOptions(help, { only: { type: 'string', default: 'n8n,next' } }, ({ only }) => {
  const names = only.split(',')
  return names.every((name) => name in hosts) ? { names } : undefined
})

endOnSignals()
await test(options.names)

async function test(names: string[]): Promise<void> {
  const fetched = new Map<string, string>()
  for (const name of names) {
    const found = await fromNpm(`host-${name}`, hosts[name]!.packages)
    if ('fault' in found) {
      console.error(`Nothing was tried: ${found.fault}`)
      process.exitCode = 3
      return
    }
    fetched.set(name, join(found.bin, '..'))
  }
  const packed = join(repositoryRoot, '.cache/hosts/packed')
  await promisify(execFile)(process.execPath, ['scripts/pack.ts', '--out', packed], { cwd: repositoryRoot })
  const system = await startSystem({ team: 'hosts', env: { SYNC_WAIT_MAX_MS: '1000' } })
  try {
    const { host, team, apiToken } = system
    const client = new Client({ host, team, accessToken: await accessTokenOf(host, team, apiToken) })
    for (const [name, modules] of fetched) await checkHost(name, { system, client, packed, modules })
  } finally {
    await system.stop()
  }
}

async function checkHost(name: string, scene: Scene): Promise<void> {
  const { checks, end } = await hosts[name]!.prepare(scene)
  try {
    for (const [guarantee, check] of Object.entries(checks)) {
      try {
        await check()
        console.log(`${name}: ${guarantee}`)
      } catch (error) {
        console.log(`${name}: FAILED ${guarantee}\n${(error as Error).stack}`)
        process.exitCode = 1
      }
    }
  } finally {
    await end()
  }
}
