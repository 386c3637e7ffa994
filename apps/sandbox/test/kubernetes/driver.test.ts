import { connectSandbox } from '@automation/client/sandbox'
import { until } from '@automation/testing'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { SandboxFault } from '../../src/drivers/driver.ts'
import type { KubernetesDriver } from '../../src/drivers/kubernetes/kubernetes-driver.ts'
import { driverConformance } from '../driver-conformance.ts'
import { ClusterUnderTest } from './cluster-under-test.ts'
import { carrying, driverOn, lacking, orderOf, plain } from './driver-under-test.ts'

const evictable = 'cluster-autoscaler.kubernetes.io/safe-to-evict'

process.env['CANARY_OF_THE_SERVICE'] = 'canary'

for (const image of [carrying, plain])
  driverConformance(`the Kubernetes driver with an image that is ${image.id}`, async () => {
    if (lacking !== undefined) return lacking
    const cluster = await ClusterUnderTest.open()
    const traits = { hasCgroup: true, endsOverFullHome: true }
    return { driver: driverOn(cluster, []), image, ...traits, close: () => cluster.close() }
  })

describe.skipIf(lacking !== undefined)(
  `sandboxes in a cluster${lacking === undefined ? '' : ` (not here: ${lacking})`}`,
  () => {
    let cluster: ClusterUnderTest
    const drivers: KubernetesDriver[] = []
    const ended = new Map<string, string>()

    beforeAll(async () => {
      cluster = await ClusterUnderTest.open()
    })
    afterEach(async () => {
      for (const driver of drivers.splice(0)) {
        for (const id of await driver.list()) await driver.end(id)
        await driver.stop()
      }
      await cluster.api.core.deleteCollectionNamespacedPod({ namespace: cluster.namespace, gracePeriodSeconds: 0 })
    })
    afterAll(() => cluster.close())

    async function started(...given: Parameters<typeof driverOn> extends [unknown, ...infer Rest] ? Rest : never) {
      const driver = driverOn(cluster, ...given)
      drivers.push(driver)
      await driver.start({ ended: (id, reason) => ended.set(id, reason) })
      return driver
    }
    const podsOf = async (selector?: string) => {
      const { items } = await cluster.api.core.listNamespacedPod({
        namespace: cluster.namespace,
        ...(selector !== undefined && { labelSelector: selector }),
      })
      return items
    }
    const warmOnes = async () => {
      const pods = await podsOf('process-automation/warm=true')
      return pods.filter(({ status }) =>
        status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
      )
    }

    test('what a pod says of itself opens no daemon, neither before nor after it has its sandbox', async () => {
      const driver = await started([{ ...carrying, warm: 1 }])
      const [pod] = await until(async () => ((await warmOnes()).length === 1 ? warmOnes() : undefined))
      const texts = JSON.stringify(pod).match(/[0-9A-Za-z_-]{32,}/g) ?? []
      const order = orderOf({ ...carrying, warm: 1 })
      await driver.create(order)
      const [given] = await podsOf(`process-automation/sandbox=${order.id}`)
      expect(given?.metadata?.uid).toBe(pod?.metadata?.uid)
      expect([pod, given].map((each) => each?.metadata?.annotations?.[evictable])).toEqual(['true', 'false'])
      const text = JSON.stringify(given)
      for (const secret of [order.daemonKey, order.grpcApiKey]) expect(text).not.toContain(secret)
      for (const key of texts) {
        const otherClient = connectSandbox({ grpcServerUrl: `http://${given?.status?.podIP}:9400`, grpcApiKey: key })
        await expect(otherClient.run(['true'])).rejects.toMatchObject({ code: 'sandbox_key' })
        otherClient.close()
      }
    })

    test('those that are kept ready are given once, whatever number of replicas asks, and made again', async () => {
      const image = { ...carrying, warm: 2 }
      const one = await started([image])
      const two = await started([image])
      await until(async () => (await warmOnes()).length === 2, { timeoutMs: 60_000 })
      await until(() => one.spares()[0]?.ready === 2, { timeoutMs: 60_000 })
      expect(one.spares()).toEqual([{ image: image.id, ready: 2, wanted: 2 }])
      const orders = [orderOf(image), orderOf(image)]
      const [first, second] = await Promise.all([one.create(orders[0]!), two.create(orders[1]!)])
      expect(first).not.toBe(second)
      for (const [at, order] of orders.entries()) {
        const sandbox = connectSandbox({ grpcServerUrl: `http://${[first, second][at]}`, grpcApiKey: order.grpcApiKey })
        expect((await sandbox.run(['sh', '-c', 'echo $SANDBOX_ID'])).stdout).toBe(`${order.id}\n`)
        sandbox.close()
      }
      await until(async () => (await warmOnes()).length === 2, { timeoutMs: 60_000 })
      expect(await podsOf()).toHaveLength(4)
      expect((await one.list()).toSorted()).toEqual(orders.map(({ id }) => id).toSorted())
    })

    test('those that were kept ready for another catalogue are replaced', async () => {
      const before = await started([{ ...carrying, warm: 1 }])
      const old = await until(async () => (await warmOnes())[0])
      await before.stop()
      await started([{ ...carrying, memoryMb: 128, warm: 1 }])
      const now = await until(async () =>
        (await warmOnes()).find(({ metadata }) => metadata?.uid !== old.metadata?.uid),
      )
      expect(now.metadata?.labels?.['process-automation/spec']).not.toBe(
        old.metadata?.labels?.['process-automation/spec'],
      )
      await until(async () => (await podsOf()).length === 1)
    })

    for (const [what, image] of [
      ['is nowhere', 'nowhere.invalid/nothing:1'],
      ['has a name that is none', 'localhost/Not-An-Image:1'],
    ])
      test(`an image that ${what} is told within 30 s, and nothing is left`, async () => {
        const driver = await started([])
        const order = orderOf({ ...carrying, image: image! })
        const failure = await driver.create(order).catch((error: unknown) => error)
        expect(failure).toBeInstanceOf(SandboxFault)
        expect((failure as Error).message).toMatch(/image/)
        expect(await podsOf()).toEqual([])
      })

    test('one that no node takes is given up with the reason', async () => {
      const driver = await started([], { startTimeoutMs: 3000 })
      const order = orderOf({ ...carrying, memoryMb: 4_000_000 })
      await expect(driver.create(order)).rejects.toThrow(/It did not start in time: .*memory/)
      expect(await podsOf()).toEqual([])
    })

    test('one that the cluster evicts is gone, with the reason', async () => {
      const driver = await started([])
      const order = orderOf(carrying)
      await driver.create(order)
      const [pod] = await podsOf()
      const { name = '', namespace = '' } = pod?.metadata ?? {}
      await cluster.api.core.createNamespacedPodEviction({ name, namespace, body: { metadata: { name, namespace } } })
      expect(await until(() => ended.get(order.id))).toMatch(/took its pod away \(EvictionByEvictionAPI\)/)
      await until(async () => (await podsOf()).length === 0)
    })

    test('one that somebody deletes is gone, with the reason', async () => {
      const driver = await started([])
      const order = orderOf(carrying)
      await driver.create(order)
      const [pod] = await podsOf()
      await cluster.api.core.deleteNamespacedPod({ name: pod!.metadata!.name!, namespace: cluster.namespace })
      expect(await until(() => ended.get(order.id))).toBe('It ended by itself: its pod was deleted')
    })

    test('one goes on while another pod of it goes away, as where it was made anew', async () => {
      const driver = await started([])
      const [order, next] = [orderOf(carrying), orderOf(carrying)]
      await driver.create(order)
      const [pod] = await podsOf()
      const { namespace } = cluster
      const failed = cluster.plainPod(`${pod!.metadata!.name!}-failed`, carrying.image, ['true'])
      failed.metadata!.labels = pod!.metadata!.labels!
      await cluster.api.core.createNamespacedPod({ namespace, body: failed })
      await until(async () => (await podsOf()).length === 1)
      // What is seen later tells that this was seen.
      await driver.create(next)
      const [later] = await podsOf(`process-automation/sandbox=${next.id}`)
      await cluster.api.core.deleteNamespacedPod({ name: later!.metadata!.name!, namespace })
      await until(() => ended.has(next.id))
      expect(ended.get(order.id)).toBeUndefined()
    })

    test('one whose daemon the kernel ends for want of memory is gone, and that is why', async () => {
      const driver = await started([])
      const order = orderOf(carrying)
      const sandbox = connectSandbox({
        grpcServerUrl: `http://${await driver.create(order)}`,
        grpcApiKey: order.grpcApiKey,
      })
      // Commands go before the daemon does, unless they are many and small and it is given up to the kernel as they are.
      const many = 'for i in $(seq 40); do (head -c 15000000 /dev/zero; sleep 60) | tail & done; wait'
      await sandbox.run(['sh', '-c', `echo 1000 > /proc/$PPID/oom_score_adj; ${many}`]).catch(() => undefined)
      sandbox.close()
      expect(await until(() => ended.get(order.id), { timeoutMs: 30_000 })).toMatch(/more memory than it may/)
      expect(await podsOf()).toEqual([])
    })

    test('another replica finds what one has made, and ends it', async () => {
      const one = await started([])
      const order = orderOf(carrying)
      const address = await one.create(order)
      const two = await started([])
      await until(async () => (await two.ready())[0]?.ok === true)
      expect(await two.create(order)).toBe(address)
      await two.end(order.id)
      expect(await one.list()).toEqual([])
    })
  },
)
