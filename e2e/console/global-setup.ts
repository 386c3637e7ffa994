import { startOidcIssuer } from '@automation/testing/oidc-issuer'
import type { TestProject } from 'vitest/node'
import { accessTokenOf } from '../client/client.ts'
import { browserPath, noBrowser } from '../suite/browser.ts'
import { openRegistry } from '../system/package-registry.ts'
import { runAdmin, startSystem, type System } from '../system/system.ts'
import { buildConsole } from './build.ts'
import { makeScene, type Scene } from './scene.ts'
import { sessionBy } from './session-by.ts'
import { signInLink } from './sign-in-link.ts'

/** What every file of the console's tests looks at. */
export interface ConsoleUnderTest {
  /** The console's origin. */
  origin: string
  /** The gateway's origin, for REST and webhooks. */
  host: string
  team: string
  apiToken: string
  accessToken: string
  /** The cookies of a session, made once by the link that a start prints. */
  cookie: string
  /** The origin of an issuer where people may sign in, too. */
  issuer: string
  /** What the admin command line takes. */
  env: Record<string, string>
  scene: Scene
}

declare module 'vitest' {
  interface ProvidedContext {
    console: ConsoleUnderTest
  }
}

/** What can be installed. */
const packages = { npm: { answer: 'module.exports = 42', other: 'module.exports = 43' }, pypi: {} }

/** In which alone who comes from the issuer has the scope `admin`. */
const adminTeam = 'others'

/** One system with a team that has something on every page. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  if (browserPath === undefined) throw new Error(`The console is tested in a browser, and there is ${noBrowser}`)
  const registry = await openRegistry(packages)
  const issuer = await startOidcIssuer({ hasPage: true })
  let system: System | undefined
  const stop = async () => {
    await system?.stop()
    await registry.close()
    await issuer.close()
  }
  try {
    await buildConsole()
    system = await startSystem({
      shape: 'embedded',
      env: {
        ...registry.settings,
        ...issuer.settings,
        OIDC_SCOPES: `scope:openid=read run build,scope:openid=admin@${adminTeam}`,
        LOG_MAX_LINES: '100000',
      },
    })
    const { host, team, apiToken, env } = system
    const link = await signInLink(system)
    await runAdmin(['teams', 'create', adminTeam], env)
    issuer.groups = [team, adminTeam]
    issuer.open(link.origin)
    const accessToken = await accessTokenOf(host, team, apiToken)
    const scene = await makeScene({ host, team, accessToken })
    const cookie = await sessionBy(link)
    project.provide('console', {
      origin: link.origin,
      host,
      team,
      apiToken,
      accessToken,
      cookie,
      issuer: issuer.url,
      env,
      scene,
    })
  } catch (error) {
    await stop()
    throw error
  }
  return stop
}
