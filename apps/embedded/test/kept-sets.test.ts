import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DependencyService } from '@automation/contract/catalog/v1/dependency'
import { TeamService } from '@automation/contract/catalog/v1/team'
import { Language } from '@automation/contract/common/v1/language'
import { Status } from '@automation/contract/execution/v1/execution'
import { InstallService } from '@automation/contract/execution/v1/install'
import { PackageSetService } from '@automation/contract/storage/v1/package_set'
import { createCatalog, readCatalogConfig } from '@automation/process-catalog'
import { uploadMessages } from '@automation/contract/uploads'
import { InProcessNetwork, served, type CallContext, type Neighbours } from '@automation/rpc'
import { RunTokens } from '@automation/rpc/run-token'
import { serve, WireNetwork, type ServedPort } from '@automation/rpc/wire'
import { Environment, type Part } from '@automation/service'
import { createStorage, readStorageConfig } from '@automation/storage'
import { operatorContext, silentLogger, testContext, testDatabase, until, userContext } from '@automation/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'

const internalKey = randomBytes(24).toString('hex')
const folder = mkdtempSync(join(tmpdir(), 'kept-sets-test-'))
const runtime = 'node147-linux-x64-glibc2.36'
const team = 'demo'
let database: Awaited<ReturnType<typeof testDatabase>>
const network = new InProcessNetwork()
let begun: string | undefined
let port: ServedPort
let wire: WireNetwork
let storage: Part
let catalog: Part

beforeAll(async () => {
  database = await testDatabase()
  const keys = { ENCRYPTION_KEY: 'for these tests alone', INTERNAL_KEY: internalKey }
  const env = new Environment({ ...keys, DATABASE_URL: database.url, DATA_DIR: folder })
  storage = createStorage({ ...readStorageConfig(env), packageSetKeepMs: 1000, sweepEveryMs: 50 }, testContext())
  await storage.start()
  const limits = { maxMessageBytes: 2 ** 24, logger: silentLogger }
  port = await serve(storage.serves, { host: '127.0.0.1', port: 0, internalKey, ...limits })
  const addresses = { storage: [`127.0.0.1:${port.port}`] }
  wire = new WireNetwork({ addresses, key: { internalKey }, maxMessageBytes: 2 ** 24 })
  const config = readCatalogConfig(env)
  env.check()
  const often = { ...config, upkeep: { ...config.upkeep, setsEveryMs: 50 } }
  const neighbours: Neighbours = {
    client: (service) => (service.typeName === PackageSetService.typeName ? wire : network).client(service),
    inCells: (service) => network.inCells(service),
    replicas: () => network.replicas(),
    at: (service) => network.at(service),
  }
  catalog = createCatalog(often, testContext(neighbours))
  await catalog.start()
  network.add([
    ...catalog.serves,
    served(InstallService, {
      startInstall: async ({ installId }) => ({ executionId: (begun = installId) }),
      getInstall: async () => ({ status: Status.FINISHED, returnValue: JSON.stringify({ digest: 'a'.repeat(64) }) }),
      listInstallLogs: async () => ({}),
    }),
  ])
  await network.client(TeamService).createTeam({ slug: team }, operatorContext())
})
afterAll(async () => {
  await catalog.stop(0)
  wire.close()
  await port.close(500)
  await storage.stop(0)
  await database.drop()
  rmSync(folder, { recursive: true })
})

/** The key of a set that the team has installed; what makes it is not part of this test. */
async function installed(): Promise<string> {
  const dependencies = network.client(DependencyService)
  const language = Language.JAVASCRIPT
  await dependencies.stageDependencies({ language, dependencies: { lodash: '*' } }, userContext(team))
  await dependencies.installDependencies({ language }, userContext(team))
  await until(async () => {
    const manifest = await dependencies.getManifest({ language }, userContext(team))
    return manifest.nextInstallation === undefined
  })
  return begun!
}

test('over the wire, storage keeps the sets that manifests of the catalog refer to, and removes the others', async () => {
  const [used, unused] = [await installed(), randomUUID()]
  for (const key of [used, unused]) await put(key)
  expect(await isThere(unused)).toBe(true)
  await until(async () => !(await isThere(unused)), { what: 'the one that is not in use goes' })
  expect(await isThere(used)).toBe(true)
})

function runContext(installs?: string): CallContext {
  const exp = Math.floor(Date.now() / 1000) + 60
  const rights = { team, executionId: 'e1', pool: 'default', depth: 0, createdBy: 'a', installs, exp }
  const token = new RunTokens(internalKey).sign(rights)
  return { ...userContext(team), principal: { role: 'run', team: '', subject: 'run', name: 'run', token } }
}

function put(key: string): Promise<unknown> {
  const messages = uploadMessages({ runtime, size: 1000n }, [randomBytes(1000)])
  return wire.client(PackageSetService).uploadSet(messages, runContext(key))
}

const isThere = async (key: string): Promise<boolean> => {
  const answers = wire.client(PackageSetService).downloadSet({ key, runtime }, runContext())
  return Array.fromAsync(answers).then(
    () => true,
    (error: unknown) => {
      expect(error).toMatchObject({ code: 'package_set_not_found' })
      return false
    },
  )
}
