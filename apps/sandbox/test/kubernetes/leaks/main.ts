import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@automation/postgres'
import { silentLogger } from '@automation/testing'
import { randomSeed, readOptions, wholeNumber } from '@automation/testing/options'
import { ClusterUnderTest } from '../cluster-under-test.ts'
import { lacking } from '../driver-under-test.ts'
import { leakCampaign } from './campaign.ts'

const help = `npm run test:leaks [-- OPTIONS]

Makes sandboxes in the cluster that KUBECONFIG names, kills them and lets them run out, by two replicas of the service
that crash and stop all the while; then nothing may be left of them. SANDBOX_BASE_IMAGE and SANDBOX_DAEMON_IMAGE name
the images.

  --operations N   300
  --seed N         of what is done; a new one when absent
  --help
`

const { operations, seed } = readOptions(
  help,
  { operations: { type: 'string', default: '300' }, seed: { type: 'string', default: randomSeed } },
  (given) => ({ operations: wholeNumber(given.operations, 1), seed: wholeNumber(given.seed) }),
)

if (lacking !== undefined) throw new Error(lacking)
await leaks()

async function leaks(): Promise<void> {
  console.log(`seed ${seed}`)
  const dataDir = mkdtempSync(join(tmpdir(), 'sandbox-leaks-'))
  const database = await startPostgres({ dataDir, logger: silentLogger, maxConnections: 100, durable: false })
  const cluster = await ClusterUnderTest.open('sandbox-leaks')
  try {
    const report = await leakCampaign({ cluster, databaseUrl: database.url, operations, seed, log: console.log })
    for (const [what, count] of Object.entries(report)) console.log(`${String(count).padStart(5)}  ${what}`)
    console.log('nothing is left')
  } finally {
    await cluster.close()
    await database.stop()
    rmSync(dataDir, { recursive: true })
  }
}
