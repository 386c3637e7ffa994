import { RunnerDemandService, type Capacity } from '@automation/contract/runner/v1/demand'
import { InProcessNetwork, served } from '@automation/rpc'
import { podKeyOf } from '@automation/rpc/key-ring'
import { Environment } from '@automation/service'
import { silentLogger, testContext, testDatabase, until, type TestDatabase } from '@automation/testing'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { v7 } from 'uuid'
import { readPodsFile } from '../../src/cluster/config.ts'
import type { PodSeen } from '../../src/cluster/pod-seen.ts'
import { Pods } from '../../src/cluster/pods.ts'
import { podLabels } from '../../src/cluster/restricted.ts'
import { readRunnerPodsConfig } from '../../src/runner-pods/config.ts'
import { openRunnerPods, type RunnerPool } from '../../src/runner-pods/pool.ts'
import { runnerNameOf, runnerPod } from '../../src/runner-pods/runner-pod.ts'
import { Store } from '../../src/store/store.ts'
import { podsFile } from '../pods-file.ts'
import { behindProxy, ClusterUnderTest, hasCluster } from './cluster-under-test.ts'

const runnerKey = 'for these tests alone '.repeat(2)

describe.skipIf(!hasCluster)('runner pods on a cluster', () => {
  let cluster: ClusterUnderTest
  let database: TestDatabase
  let store: Store
  let watched: Pods
  /** Does nothing, until it is ended. */
  let image: string
  const pools: RunnerPool[] = []
  let count = 0

  beforeAll(async () => {
    cluster = await ClusterUnderTest.open('runner-pods')
    database = await testDatabase()
    store = new Store(database.url, testContext(), { poolSize: 6, migrates: true })
    await store.open(new AbortController().signal)
    const nodes = await cluster.api.core.listNode()
    const names = nodes.items.flatMap(({ status }) => status?.images ?? []).flatMap((each) => each.names ?? [])
    image = process.env['RUNNER_PODS_TEST_IMAGE'] ?? names.find((name) => /(^|\/)pause:/.test(name)) ?? ''
  })
  afterEach(async () => {
    for (const pool of pools.splice(0)) await pool.stop()
    await watched.stop()
  })
  afterAll(async () => {
    await store.close()
    await cluster.close()
    await database.drop()
  })

  /** A pool of an installation of its own. */
  async function start(
    demand: ScriptedDemand,
    members: object = {},
    replicas = 1,
    api = cluster.api,
  ): Promise<RunnerPool> {
    const instance = `pool-${count++}`
    const runners = { image, cpu: '10m', memory: '64Mi', ...members }
    const KUBERNETES_PODS = podsFile({ namespace: cluster.namespace, instance }, runners)
    const env = new Environment({ KUBERNETES_PODS, RUNNER_KEY: runnerKey, RUN_TIMEOUT_MAX_MS: '1000' })
    const config = { ...readRunnerPodsConfig(env, readPodsFile(env))!, everyMs: 100 }
    env.check()
    const { namespace } = cluster
    watched = new Pods({ api: cluster.api, namespace, labels: podLabels('runner-pod', instance), logger: silentLogger })
    await watched.start()
    for (let replica = 0; replica < replicas; replica++) {
      const pool = await openRunnerPods(config, store, testContext(demand.network), { api })
      pools.push(pool)
      pool.start()
    }
    return pools[0]!
  }

  const there = () => watched.all().filter(({ deleting }) => !deleting)
  const named = (suffix: string) => there().find(({ name }) => name.endsWith(suffix))
  const podsAre = (most: number) =>
    until(() => (there().length === most ? there() : undefined), { what: `${most} pods` })

  test('a spare pod is there, as the restricted policy wants it; a team takes it, and there is another spare', async () => {
    const demand = new ScriptedDemand()
    await start(demand)
    const [first] = await podsAre(1)
    demand.hello(first!)
    await until(() => demand.capacity?.runners === 1)
    expect(there()).toHaveLength(1)
    demand.hello(first!, 'blue', 1)
    await podsAre(2)
    await until(() => named('-0')?.labels['process-automation/team'] === 'blue', { what: 'the label of its team' })
  })

  test('the pods of a team that is removed go at once, with their keys, and no other', async () => {
    const demand = new ScriptedDemand()
    const pool = await start(demand, { spare: 2 })
    const [one, two] = await podsAre(2)
    demand.hello(one!, 'red')
    demand.hello(two!, 'blue')
    const labelled = (team: string) => there().filter(({ labels }) => labels['process-automation/team'] === team)
    await until(() => labelled('red').length === 1 && labelled('blue').length === 1, { what: 'the labels of teams' })
    demand.runners.delete(runnerNameOf(one!))
    expect(await pool.removeOf('red')).toBe(1)
    await until(() => labelled('red').length === 0, { what: 'the pod to go' })
    expect(labelled('blue')).toHaveLength(1)
    expect(await pool.removeOf('red')).toBe(0)
    const secrets = async () => (await cluster.api.core.listNamespacedSecret({ namespace: cluster.namespace })).items
    const isOf = (uid: string) => (each: { metadata?: { ownerReferences?: { uid: string }[] } }) =>
      each.metadata?.ownerReferences?.some((owner) => owner.uid === uid) === true
    await until(async () => !(await secrets()).some(isOf(one!.uid)), { what: 'the key to go', timeoutMs: 30_000 })
    expect((await secrets()).some(isOf(two!.uid))).toBe(true)
  })

  test('a pod that ended is replaced, and teams that wait get one each, up to the maximum', async () => {
    const demand = new ScriptedDemand()
    await start(demand, { max: 3 })
    const [first] = await podsAre(1)
    demand.hello(first!)
    demand.waiting = ['a', 'b', 'c', 'd']
    await podsAre(3)
    const before = named('-1')!
    await watched.remove(before.name, { uid: before.uid, graceS: 0 })
    await until(() => named('-1') !== undefined && named('-1')!.uid !== before.uid, {
      what: 'another pod in its place',
    })
    expect(there()).toHaveLength(3)
  })

  test('in a full pool the pod that was idle for longest goes, and no busy one', async () => {
    const demand = new ScriptedDemand()
    await start(demand, { max: 2, spare: 0 })
    demand.waiting = ['a', 'b']
    const [one, two] = await podsAre(2)
    demand.hello(one!, 'a', 1)
    demand.hello(two!, 'b', 0, 5000)
    demand.waiting = ['c']
    await until(() => watched.get(two!.name)?.uid !== two!.uid || watched.get(two!.name)!.deleting, { what: 'it goes' })
    expect(watched.get(one!.name)).toMatchObject({ uid: one!.uid, deleting: false })
    demand.runners.delete(runnerNameOf(two!))
    const isReplaced = () => named(two!.name) !== undefined && named(two!.name)!.uid !== two!.uid
    // A program that was told to stop before it listens for that ends with its time of grace.
    await until(isReplaced, { what: 'a pod for c', timeoutMs: 60_000 })
  })

  test('of several replicas of the service one makes the pods, and another goes on when it ends', async () => {
    const demand = new ScriptedDemand()
    await start(demand, { spare: 2 }, 3)
    await podsAre(2)
    await until(() => pools.filter((pool) => pool.check().detail === 'another replica makes them').length === 2)
    const leader = pools.findIndex((pool) => pool.check().detail !== 'another replica makes them')
    await pools.splice(leader, 1)[0]!.stop()
    await until(() => pools.filter((pool) => pool.check().detail !== 'another replica makes them').length === 1)
    demand.waiting = ['a']
    await podsAre(3)
  })

  test('pods whose image is not there are given up, with the reason, and made again ever more slowly', async () => {
    const demand = new ScriptedDemand()
    const pool = await start(demand, {
      image: 'localhost/nothing-of-this-name:1',
      pullPolicy: 'Never',
    })
    await until(() => /they do not start \(2 times in a row\): the image/.test(pool.check().detail ?? ''), {
      timeoutMs: 40_000,
      what: 'the reason in readiness',
    })
    expect(pool.check().detail).toMatch(/can't be had/)
    expect(demand.capacity?.trouble).toBe('runner pods do not start at the moment')
    await until(() => /^\d in a row did not start: the image .* can't be had/.test(demand.capacity?.whyNone ?? ''))
  })

  test('a pod that no node takes is told as one that starts, with the reason of the cluster', async () => {
    const demand = new ScriptedDemand()
    await start(demand, { cpu: '10000' })
    const [one] = await podsAre(1)
    const told = await until(() => demand.capacity?.starting.find(({ why }) => why.startsWith('Unschedulable: ')))
    expect(told).toMatchObject({ runnerName: runnerNameOf(one!), why: expect.stringContaining('Insufficient cpu') })
    demand.hello(one!)
    await until(() => demand.capacity?.starting.length === 0)
  })

  test('while the API is away pods stay and those that wait are told; then it goes on where it was', async () => {
    const { api, proxy } = await behindProxy()
    onTestFinished(() => proxy.close())
    const demand = new ScriptedDemand()
    demand.waiting = ['a', 'b']
    const pool = await start(demand, { spare: 0, max: 4 }, 1, api)
    const [lost, stays] = await podsAre(2)
    demand.hello(lost!, 'a', 1)
    demand.hello(stays!, 'b', 1)
    demand.waiting = []
    await until(() => stays && watched.get(stays.name)?.labels['process-automation/team'] === 'b')
    proxy.refuse()
    await until(() => /the Kubernetes API does not answer/.test(pool.check().detail ?? ''))
    demand.waiting = ['c']
    await until(() => demand.capacity?.trouble === 'the cluster that has them does not answer at the moment')
    expect(pool.check().ok).toBe(true)
    demand.runners.delete(runnerNameOf(lost!))
    await watched.remove(lost!.name, { uid: lost!.uid, graceS: 0 })
    await until(() => there().length === 1)
    proxy.open()
    const now = await podsAre(2)
    expect(now.map(({ uid }) => uid)).toContain(stays!.uid)
    expect(now.map(({ uid }) => uid)).not.toContain(lost!.uid)
    await until(() => demand.capacity?.trouble === '')
  })

  /** The name of the Secret that a pod mounts, and the key in there. */
  const keyOf = async ({ name }: PodSeen) => {
    const { namespace } = cluster
    const pod = await cluster.api.core.readNamespacedPod({ name, namespace })
    const { secretName = '' } = pod.spec!.volumes!.find((volume) => volume.name === 'key')!.secret!
    const read = () => cluster.api.core.readNamespacedSecret({ name: secretName, namespace }).catch(() => undefined)
    return { pod, secretName, read, secret: await until(read, { what: 'its Secret' }) }
  }
  const textOf = ({ data = {} }: { data?: Record<string, string> }) =>
    Buffer.from(data['RUNNER_KEY'] ?? '', 'base64').toString()

  test('each pod has a key of its own in a Secret that goes with it, and no account of the cluster', async () => {
    const demand = new ScriptedDemand()
    await start(demand, { spare: 2 })
    const [one, two] = await podsAre(2)
    const [first, second] = [await keyOf(one!), await keyOf(two!)]
    expect(JSON.stringify(first.pod)).not.toContain(runnerKey)
    expect(first.pod.spec).toMatchObject({ automountServiceAccountToken: false, restartPolicy: 'Never' })
    expect(first.pod.spec!.volumes!.map(({ name }) => name)).toEqual(['tmp', 'packages', 'key'])
    for (const { secret } of [first, second]) {
      const [, pool, id] = /^pod\/(.+)\/(.+):key:/.exec(textOf(secret)) ?? []
      expect(textOf(secret)).toBe(podKeyOf(runnerKey, { id: id!, pool: pool! }))
    }
    expect(textOf(first.secret)).not.toBe(textOf(second.secret))
    expect(first.secret.metadata!.labels).toMatchObject(podLabels('runner-pod', `pool-${count - 1}`))
    // It runs: the Secret was mounted.
    demand.hello(one!)
    demand.hello(two!)
    await watched.remove(one!.name, { uid: one!.uid, graceS: 0 })
    demand.runners.delete(runnerNameOf(one!))
    await until(async () => (await first.read()) === undefined, { what: 'the Secret to go', timeoutMs: 60_000 })
    const again = await until(() => {
      const now = there().find(({ name }) => name === one!.name)
      return now?.uid === one!.uid ? undefined : now
    })
    const third = await keyOf(again)
    expect(third.secretName).not.toBe(first.secretName)
    const isUp = async () =>
      (await cluster.api.core.readNamespacedPod({ name: again.name, namespace: cluster.namespace })).status?.phase !==
      'Pending'
    await until(isUp, { what: 'the pod in its place to start', timeoutMs: 60_000 })
  })

  test('a pod whose Secret could not be made is removed again, and the pause before the next grows', async () => {
    const demand = new ScriptedDemand()
    const { api } = cluster
    const refuse = () => Promise.reject(new Error('no Secrets today'))
    const core = new Proxy(api.core, {
      get: (target, name) => (name === 'createNamespacedSecret' ? refuse : Reflect.get(target, name).bind(target)),
    })
    const pool = await start(demand, {}, 1, { ...api, core })
    await until(() => /they do not start \(\d times in a row\): no Secrets today/.test(pool.check().detail ?? ''))
    await podsAre(0)
  })

  test('of two that make the same pod at once, each leaves it with its Secret', async () => {
    const demand = new ScriptedDemand()
    const { api, namespace } = cluster
    // The first is cut off between the pod and its Secret.
    const cut = new Proxy(api.core, {
      get: (target, name) =>
        name === 'createNamespacedSecret' ? () => new Promise(() => undefined) : Reflect.get(target, name).bind(target),
    })
    const instance = `pool-${count}`
    const labels = podLabels('runner-pod', instance)
    const first = new Pods({ api: { ...api, core: cut }, namespace, labels, logger: silentLogger })
    const env = new Environment({
      KUBERNETES_PODS: podsFile({}, { image, cpu: '10m', memory: '64Mi' }),
      RUNNER_KEY: runnerKey,
    })
    const { pod } = readRunnerPodsConfig(env, readPodsFile(env))!
    const made = await first.create(runnerPod({ name: `${instance}-runner-0`, keyId: v7() }, pod))
    await start(demand)
    expect(textOf((await keyOf(made)).secret)).toContain(made.labels['process-automation/key'])
  })
})

/** What execution would say: runners said hello in the pods that a test names. */
class ScriptedDemand {
  waiting: string[] = []
  capacity: Capacity | undefined
  readonly runners = new Map<string, { team: string; running: number; idleMs: bigint }>()
  readonly network = new InProcessNetwork()

  constructor() {
    const getDemand = ({ capacity }: { capacity?: Capacity }) => {
      this.capacity = capacity
      const sessions = [...this.runners].map(([runnerName, runner]) => ({
        runnerName,
        oneTeam: true,
        slots: 4,
        ...runner,
      }))
      return { sessions, waiting: this.waiting.map((team) => ({ team })) }
    }
    this.network.add([served(RunnerDemandService, { getDemand })])
  }

  hello(pod: PodSeen, team = '', running = 0, idleMs = 0): void {
    this.runners.set(runnerNameOf(pod), { team, running, idleMs: BigInt(idleMs) })
  }
}
