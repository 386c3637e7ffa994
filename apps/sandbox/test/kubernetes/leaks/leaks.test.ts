import { testDatabase } from '@automation/testing'
import { expect, test } from 'vitest'
import { ClusterUnderTest } from '../cluster-under-test.ts'
import { lacking } from '../driver-under-test.ts'
import { leakCampaign } from './campaign.ts'

const minutes = 60_000

test(
  'whatever is made and killed while replicas crash and stop, nothing is left',
  { timeout: 10 * minutes },
  async ({ skip }) => {
    if (lacking !== undefined) return skip(lacking)
    const cluster = await ClusterUnderTest.open('sandbox-leaks')
    const database = await testDatabase()
    try {
      const seed = Math.floor(Math.random() * 1e9)
      const given = { cluster, databaseUrl: database.url, operations: 40, seed, log: () => undefined }
      expect((await leakCampaign(given))['create']).toBeGreaterThan(0)
    } finally {
      await cluster.close()
      await database.drop()
    }
  },
)
