import { SandboxStatus } from '@automation/contract/sandbox/v1/sandbox'
import type { Failure } from '@automation/errors'
import { connectSandbox } from '@automation/client/sandbox'
import { until, userContext } from '@automation/testing'
import type { FaultProxy } from '@automation/testing/fault-proxy'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Catalogue } from '../../src/catalogue.ts'
import type { KubernetesDriver } from '../../src/drivers/kubernetes/kubernetes-driver.ts'
import { becomes, SandboxesUnderTest, type Replica } from '../sandboxes-under-test.ts'
import { behindProxy, ClusterUnderTest } from './cluster-under-test.ts'
import { carrying, driverOn, lacking } from './driver-under-test.ts'

const startTimeoutMs = 10_000
const demo = () => userContext('demo')

describe.skipIf(lacking !== undefined)(
  `while the API of the cluster is away${lacking === undefined ? '' : ` (not here: ${lacking})`}`,
  () => {
    let cluster: ClusterUnderTest
    let proxy: FaultProxy
    let under: SandboxesUnderTest
    let replica: Replica<KubernetesDriver>

    beforeAll(async () => {
      cluster = await ClusterUnderTest.open('api-away')
      const { api, proxy: between } = await behindProxy()
      proxy = between
      under = await SandboxesUnderTest.open()
      replica = await under.replica(driverOn(cluster, [], { startTimeoutMs, open: async () => api }), {
        catalogue: new Catalogue([carrying], false),
        createWaitMs: 500,
        startTimeoutMs,
      })
      await isSeen(true)
    })
    afterEach(async () => {
      await back()
      const { rows } = await under.sql.query<{ id: string }>('SELECT id FROM sandboxes WHERE status <= 2')
      for (const { id } of rows) await replica.sandboxes.killSandbox({ id }, demo())
      await until(async () => (await pods()).length === 0, { timeoutMs: 40_000, what: 'no pods' })
    })
    afterAll(async () => {
      proxy.open()
      await under.close()
      await cluster.close()
      await proxy.close()
    })

    const pods = async () =>
      (await cluster.api.core.listNamespacedPod({ namespace: cluster.namespace })).items.filter(
        ({ metadata }) => metadata?.deletionTimestamp === undefined,
      )
    const podOf = async (id: string) =>
      (await pods()).find(({ metadata }) => metadata?.labels?.['process-automation/sandbox'] === id)
    const asked = () => replica.sandboxes.createSandbox({ imageId: carrying.id }, demo())
    /** One that runs, for long enough to be taken for lost where it is not seen. */
    async function running() {
      const { id } = await asked()
      const sandbox = await becomes(replica, id, SandboxStatus.RUNNING, 'demo', 30_000)
      await under.sql.query(`UPDATE sandboxes SET created_at = created_at - interval '1 minute' WHERE id = $1`, [id])
      return sandbox
    }
    const isSeen = async (is: boolean) => {
      const look = async () => (await replica.part.ready()).find(({ name }) => name === 'kubernetes')
      await until(async () => ((await look())?.detail === undefined) === is, { timeoutMs: 30_000 })
    }
    /** Closes the way to the API; resolves when the service has noticed. */
    async function away() {
      proxy.refuse()
      await isSeen(false)
    }
    async function back() {
      proxy.open()
      await isSeen(true)
    }

    test('sandboxes that run go on, and are RUNNING all the while', async () => {
      const { id, grpcApiKey } = await running()
      const before = await podOf(id)
      await away()
      const grpcServerUrl = `http://${before?.status?.podIP}:9400`
      const sandbox = connectSandbox({ grpcServerUrl, grpcApiKey })
      expect((await sandbox.run(['echo', 'here'])).stdout).toBe('here\n')
      await back()
      expect((await sandbox.run(['echo', 'still here'])).stdout).toBe('still here\n')
      sandbox.close()
      expect((await replica.sandboxes.getSandbox({ id }, demo())).status).toBe(SandboxStatus.RUNNING)
      expect((await podOf(id))?.metadata?.uid).toBe(before?.metadata?.uid)
    })

    test('new ones are refused with the reason and when to ask again, and leave nothing', async () => {
      await away()
      const refusal = await asked().catch((error: unknown) => error)
      expect(refusal).toMatchObject({ kind: 'unavailable', code: 'cluster_away', retryAfterS: expect.any(Number) })
      expect((refusal as Failure).message).toMatch(/cluster does not answer/)
      const { sandboxes } = await replica.sandboxes.listSandboxes({}, demo())
      expect(sandboxes.filter(({ status }) => status <= SandboxStatus.RUNNING)).toEqual([])
      await back()
      await running()
    })

    test('one that was asked for just before runs when it is back', async () => {
      proxy.freeze()
      const { id, status } = await asked()
      expect(status).toBe(SandboxStatus.PENDING)
      proxy.refuse()
      proxy.open()
      await becomes(replica, id, SandboxStatus.RUNNING, 'demo', 30_000)
      expect(await pods()).toHaveLength(1)
    })

    test('one that was asked for just before, and waited for too long, says that', async () => {
      proxy.freeze()
      const { id } = await asked()
      proxy.refuse()
      const { reason } = await becomes(replica, id, SandboxStatus.FAILED, 'demo', startTimeoutMs + 5000)
      expect(reason).toMatch(/cluster does not answer/)
    })

    test('ends are told at once, and carried out when it is back', async () => {
      const [killed, late, lost] = [await running(), await running(), await running()]
      await away()
      expect((await replica.sandboxes.killSandbox({ id: killed.id }, demo())).status).toBe(SandboxStatus.KILLED)
      await under.sql.query('UPDATE sandboxes SET timeout_at = now() WHERE id = $1', [late.id])
      await becomes(replica, late.id, SandboxStatus.TIMED_OUT)
      const name = (await podOf(lost.id))?.metadata?.name ?? ''
      await cluster.api.core.deleteNamespacedPod({ name, namespace: cluster.namespace })
      expect(await pods()).toHaveLength(2)
      await back()
      const { reason } = await becomes(replica, lost.id, SandboxStatus.FAILED, 'demo', 30_000)
      expect(reason).toMatch(/its pod was deleted/)
      for (const { id } of [killed, late])
        await until(async () => (await podOf(id)) === undefined, { timeoutMs: 30_000, what: 'the end of its pod' })
    })
  },
)
