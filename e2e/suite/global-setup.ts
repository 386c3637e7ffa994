import type { TestProject } from 'vitest/node'
import { accessTokenOf } from '../client/client.ts'
import { databaseUrlOf } from '../system/database.ts'
import { openRegistry } from '../system/package-registry.ts'
import { runAdmin, startSystem } from '../system/system.ts'
import type { System } from '../system/system.ts'
import { openIssuer } from './outside-issuer.ts'
import type { Operator, SharedSystem, TeamAccess } from './shared-system.ts'

/** What its registries have, and nothing else. */
const packages = {
  npm: {
    staged: 'exports.answer = () => 42',
    first: 'module.exports = "at once"',
    detected: 'module.exports = "of the source"',
    own: 'module.exports = "of its own"',
    pinned: 'module.exports = "by a comment"',
  },
  pypi: { simple: 'answer = lambda: 43\n', first: 'words = "at once"\n', detected: 'words = "of the source"\n' },
}

/** Half of what is usual: what fills it takes its time. */
const runMemoryMb = 256
const usualMemoryMb = 512

/**
 * One system for the whole suite: the one that E2E_BASE_URL names (with E2E_TEAM, E2E_API_TOKEN, and E2E_OTHER_TEAM,
 * E2E_OTHER_API_TOKEN for what needs a second team, E2E_OPERATOR for what an operator does), else one of our own that is
 * stopped at the end.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const host = process.env['E2E_BASE_URL']?.replace(/\/+$/, '')
  if (host) {
    project.provide('system', await running(host))
    return async () => undefined
  }
  const started = performance.now()
  const [{ close, ...issuer }, registry] = await Promise.all([openIssuer(), openRegistry(packages)])
  const system = await startSystem({
    env: {
      ...registry.settings,
      CODE_GLOBAL_ALIAS: 'acme',
      AGENT_POOLS: 'default,slow',
      RUN_MEMORY_MB: `${runMemoryMb}`,
      CORS_ORIGINS: 'https://shop.example',
      OIDC_ISSUER: issuer.issuer,
      OIDC_AUDIENCE: issuer.audience,
      OIDC_JWKS_URL: issuer.jwksUrl,
    },
  })
  console.log(`${system.shape} ready after ${Math.round(performance.now() - started)} ms at ${system.host}`)
  try {
    project.provide('system', {
      host: system.host,
      owned: true,
      own: { dataDir: system.dataDir, env: system.env },
      operator: { env: system.env, databaseUrl: await databaseUrlOf(system.dataDir) },
      runMemoryMb,
      main: await access(system.host, system.team, system.apiToken),
      other: await secondTeam(system),
      issuer,
    })
  } catch (error) {
    await system.stop()
    throw error
  }
  return async () => {
    await system.stop()
    await Promise.all([close(), registry.close()])
  }
}

async function running(host: string): Promise<SharedSystem> {
  const { E2E_TEAM = 'demo', E2E_API_TOKEN, E2E_OTHER_TEAM, E2E_OTHER_API_TOKEN, E2E_OPERATOR } = process.env
  if (!E2E_API_TOKEN) throw new Error('E2E_BASE_URL needs E2E_API_TOKEN, and E2E_TEAM unless it is demo')
  const other =
    E2E_OTHER_TEAM && E2E_OTHER_API_TOKEN ? await access(host, E2E_OTHER_TEAM, E2E_OTHER_API_TOKEN) : undefined
  const main = await access(host, E2E_TEAM, E2E_API_TOKEN)
  const operator = E2E_OPERATOR ? (JSON.parse(E2E_OPERATOR) as Operator) : undefined
  return { host, owned: false, runMemoryMb: usualMemoryMb, main, other, operator }
}

async function secondTeam(system: System): Promise<TeamAccess> {
  const team = 'e2e-other'
  await admin(system, 'teams', 'create', team)
  const made = await admin(system, 'tokens', 'create', team, '--name', 'other', '--scopes', 'executor,admin')
  return access(system.host, team, made.trim())
}

async function admin(system: System, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runAdmin(args, system.env)
  if (code !== 0) throw new Error(`admin ${args.join(' ')} ended with ${code}:\n${stdout}\n${stderr}`)
  return stdout
}

async function access(host: string, team: string, apiToken: string): Promise<TeamAccess> {
  return { team, apiToken, accessToken: await accessTokenOf(host, team, apiToken) }
}
