import { unavailable } from '@automation/errors'
import { Environment } from '@automation/service'
import { keptLog, testContext, until } from '@automation/testing'
import { expect, onTestFinished, test } from 'vitest'
import { createGateway, readGatewayConfig } from '../src/service.ts'
import { ContractServers, ISSUER } from './contract-servers.ts'

/** Starts a gateway beside a catalog that answers so; gives the lines of its log and how often it has asked. */
async function started(countTeams: (asked: number) => { count: number }, settings: Record<string, string> = {}) {
  const servers = await ContractServers.create()
  let asked = 0
  servers.answers.set('countTeams', () => {
    asked += 1
    return countTeams(asked)
  })
  const env = new Environment({ PORT: '0', HOST: '127.0.0.1', PUBLIC_URL: ISSUER, ...settings })
  const { logger, lines } = keptLog()
  const gateway = createGateway(readGatewayConfig(env), { ...testContext(servers.network), logger })
  onTestFinished(() => gateway.stop(1000))
  await gateway.start()
  const warnings = () => lines.filter(({ level, msg }) => level === 40 && String(msg).includes('SANDBOX_PUBLIC_DOMAIN'))
  return { warnings, asked: () => asked }
}

test('the start says that several teams share one origin for their sandboxes, once the catalog answers', async () => {
  const { warnings } = await started((asked) => {
    if (asked === 1) throw unavailable('The catalog starts')
    return { count: 3 }
  })
  await until(() => warnings().length > 0)
  expect(warnings()).toMatchObject([{ teams: 3 }])
})

test('nothing is said where there is one team, and nothing is asked where each sandbox has a host of its own', async () => {
  const one = await started(() => ({ count: 1 }))
  await until(() => one.asked() > 0)
  expect(one.warnings()).toEqual([])
  const apart = await started(() => ({ count: 3 }), { SANDBOX_PUBLIC_DOMAIN: 'sandboxes.test' })
  expect([apart.warnings(), apart.asked()]).toEqual([[], 0])
})
