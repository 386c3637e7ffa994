import { randomUUID } from 'node:crypto'
import { until } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ClusterApi } from '../../src/cluster/api.ts'
import { ClusterUnderTest, hasCluster } from './cluster-under-test.ts'

// It has no program and need not start: these tests are about what the API says.
const image = 'localhost/none:1'

describe.skipIf(!hasCluster)('the pods of a namespace', () => {
  let cluster: ClusterUnderTest
  beforeAll(async () => {
    cluster = await ClusterUnderTest.open()
  })
  afterAll(() => cluster.close())
  const podOf = (name = `pod-${randomUUID()}`) => cluster.plainPod(name, image, ['true'])

  test('are known by the list and then by the watch, until they are gone', async () => {
    const pods = cluster.pods()
    const before = await pods.create(podOf())
    const changes: [string, boolean][] = []
    pods.onChange(({ name }, isGone) => changes.push([name, isGone]))
    await pods.start()
    expect(pods.get(before.name)?.uid).toBe(before.uid)
    const later = await pods.create(podOf())
    await until(() => pods.get(later.name))
    await pods.remove(later.name, { graceS: 0 })
    await until(() => pods.get(later.name) === undefined)
    expect(changes).toContainEqual([later.name, true])
    expect(pods.isCurrent).toBe(true)
    await pods.stop()
    expect(pods.isCurrent).toBe(false)
    await pods.remove(before.name, { graceS: 0 })
  })

  test('go with the ConfigMap that they belong to', async () => {
    const { api, namespace } = cluster
    await api.core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'owner' } } })
    const pods = cluster.pods(api, 'owner')
    const { name } = await pods.create(podOf())
    const { metadata } = await api.core.readNamespacedPod({ namespace, name })
    // So `kubectl drain` asks for no --force.
    expect(metadata?.ownerReferences).toMatchObject([{ kind: 'ConfigMap', name: 'owner', controller: true }])
    await api.core.deleteNamespacedConfigMap({ namespace, name: 'owner' })
    await until(async () => (await pods.list()).length === 0)
  })

  test('one of the same name is the one that is there', async () => {
    const pods = cluster.pods()
    const one = await pods.create(podOf())
    expect((await pods.create(podOf(one.name))).uid).toBe(one.uid)
    await pods.remove(one.name, { uid: randomUUID(), graceS: 0 })
    expect(await pods.list()).toHaveLength(1)
    await pods.remove(one.name, { uid: one.uid, graceS: 0 })
    await pods.remove(one.name)
    expect(await pods.list()).toEqual([])
  })

  test('a change is made by one of those who try at the same time', async () => {
    const pods = cluster.pods()
    const { name } = await pods.create(podOf())
    // Until its kubelet has said that there is no such image it is changed by that, too.
    const { resourceVersion } = await until(async () => (await pods.list()).find((pod) => pod.end !== undefined))
    const tries = Array.from({ length: 8 }, (_, at) =>
      pods.patch(name, { resourceVersion, labels: { owner: `${at}` } }),
    )
    const winners = (await Promise.all(tries)).filter((pod) => pod !== undefined)
    expect(winners).toHaveLength(1)
    expect((await pods.list())[0]?.labels['owner']).toBe(winners[0]?.labels['owner'])
    await pods.remove(name, { graceS: 0 })
    expect(await pods.patch(name, { resourceVersion, labels: { owner: 'late' } })).toBeUndefined()
  })

  test('a cursor that the API takes for too old is left for a new list, and nothing is missed', async () => {
    const pods = cluster.pods(once(cluster.api, async (query) => ({ ...query, resourceVersion: '1' })))
    await pods.start()
    const { name } = await pods.create(podOf())
    await until(() => pods.get(name))
    await pods.stop()
    await pods.remove(name, { graceS: 0 })
  })

  test('an API that is away is waited for, and what changed meanwhile is known then', async () => {
    const away = Promise.withResolvers<void>()
    const direct = cluster.pods()
    const meanwhile = podOf()
    const pods = cluster.pods(
      once(cluster.api, async () => {
        await direct.create(meanwhile)
        away.resolve()
        throw new TypeError('fetch failed')
      }),
    )
    await pods.start()
    await away.promise
    await until(() => pods.isCurrent && pods.get(meanwhile.metadata?.name ?? '') !== undefined)
    await pods.stop()
    await direct.remove(meanwhile.metadata?.name ?? '', { graceS: 0 })
  })
})

/** The same API, but for its first watch. */
function once(api: ClusterApi, change: (query: object) => Promise<Record<string, string>>): ClusterApi {
  let isFirst = true
  const watch = Object.create(api.watch) as ClusterApi['watch']
  watch.watch = async (path, query, ...others) => {
    const isThis = isFirst
    isFirst = false
    return api.watch.watch(path, isThis ? await change(query) : query, ...others)
  }
  return { ...api, watch }
}
