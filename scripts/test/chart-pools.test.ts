import { describe, expect, test } from 'vitest'
import {
  component,
  full,
  isThere,
  minimal,
  podOf,
  podSettings,
  render,
  selects,
  type Manifest,
} from '../charts/render.ts'

const large = 'runners.pools.large'
const labelled = (name: string) => ({
  'app.kubernetes.io/part-of': 'process-automation',
  'app.kubernetes.io/instance': 'release',
  'app.kubernetes.io/component': name,
})

const deploymentOf = (manifests: Manifest[], name: string) =>
  manifests.find((each) => each.kind === 'Deployment' && component(each) === name)!
const podNamed = (manifests: Manifest[], name: string) => podOf(deploymentOf(manifests, name))[0]!
const envOf = (manifests: Manifest[], name: string) =>
  Object.fromEntries(podNamed(manifests, name).containers[0]!.env.map((each) => [each.name, each.value]))

// Without helm there is nothing to try; `npm run check` says so.
describe.runIf(isThere('helm'))('a further pool of runners', () => {
  test('is a Deployment beside the pods on demand, as the other runners are but for what it says', async () => {
    const sets = [
      'replicas=3',
      'slots=8',
      'labels.size=large',
      'labels.site=here',
      'env.RUN_MEMORY_MB=4096',
      'resources.limits.memory=16Gi',
    ]
    const others = ['runners.env.RUN_TMP_MB=100', 'runners.env.RUN_MEMORY_MB=300', 'runners.resources.limits.cpu=4']
    const manifests = await render(minimal, [...sets.map((set) => `${large}.${set}`), ...others])
    expect(deploymentOf(manifests, 'runner-pool-large')['spec']).toMatchObject({ replicas: 3 })
    expect(envOf(manifests, 'runner-pool-large')).toMatchObject({
      RUNNER_POOL: 'large',
      RUNNER_LABELS: 'site=here,size=large',
      RUNNER_SLOTS: '8',
      RUN_MEMORY_MB: '4096',
      RUN_TMP_MB: '100',
    })
    const { resources, image } = podNamed(manifests, 'runner-pool-large').containers[0]!
    expect(resources).toMatchObject({ limits: { memory: '16Gi', cpu: 4 }, requests: { cpu: '250m' } })
    expect(image).toContain('process-automation-runner:')
    expect(podSettings(manifests)).toMatchObject({
      runners: { memory: '2Gi', settings: { RUNNER_SLOTS: '64', RUN_MEMORY_MB: '300' } },
    })
  })

  test('has its own setting also where that is false or nothing', async () => {
    const of = (pool: string, value: string) => `${pool}.env.DEPENDENCIES_ALLOW_GIT=${value}`
    const manifests = await render(minimal, [of('runners', 'true'), of(large, 'false')])
    expect(envOf(manifests, 'runner-pool-large')).toMatchObject({ DEPENDENCIES_ALLOW_GIT: 'false' })
  })

  test('is one that runs may ask for, unless it is one team’s', async () => {
    const asked = async (...sets: string[]) => envOf(await render(minimal, sets), 'execution')['AGENT_POOLS']
    expect(await asked()).toBeUndefined()
    expect(await asked(`${large}.replicas=1`, 'runners.pools.small.replicas=1')).toBe('default,large,small')
    expect(await asked(`${large}.replicas=1`, 'settings.AGENT_POOLS=big\\,large')).toBe('big,large')
    expect(await asked(`${large}.shared=false`)).toBeUndefined()
    // Its runners are in the first cell: elsewhere runs in it would wait for ever.
    const manifests = await render(minimal, [`${large}.replicas=1`, 'cells.blue.existingSecret=blue'])
    expect(envOf(manifests, 'execution-blue')).not.toHaveProperty('AGENT_POOLS')
  })

  test('is on nodes of its own where it names them, else on those for the code of users', async () => {
    const code = [
      'userCode.nodeSelector.pool=code',
      'userCode.tolerations[0].key=code',
      'userCode.priorityClassName=low',
    ]
    const own = [
      'nodeSelector.pool=gpu',
      'tolerations[0].key=gpu',
      'affinity.nodeAffinity.a=b',
      'runtimeClassName=nvidia',
    ]
    const manifests = await render(minimal, [
      ...code,
      ...own.map((set) => `${large}.${set}`),
      'runners.pools.small.slots=2',
    ])
    expect(podNamed(manifests, 'runner-pool-large')).toMatchObject({
      nodeSelector: { pool: 'gpu' },
      tolerations: [{ key: 'gpu' }],
      affinity: { nodeAffinity: { a: 'b' } },
      priorityClassName: 'low',
      runtimeClassName: 'nvidia',
    })
    expect(podNamed(manifests, 'runner-pool-small')).toMatchObject({
      nodeSelector: { pool: 'code' },
      tolerations: [{ key: 'code' }],
    })
    expect(podNamed(manifests, 'runner-pool-small')).not.toHaveProperty('runtimeClassName')
  })

  test('grows by what execution wants in it, and gives up its pods one by one', async () => {
    const sets = [`${large}.keda.maxReplicas=6`, 'runners.keda.prometheus=http://prometheus:9090']
    const manifests = await render(minimal, sets)
    const scaled = manifests.filter(({ kind }) => kind === 'ScaledObject')
    const name = 'release-process-automation-runner-pool-large'
    expect(scaled.map(({ metadata, spec }) => ({ name: metadata.name, spec }))).toMatchObject([
      { name, spec: { scaleTargetRef: { name }, minReplicaCount: 0, maxReplicaCount: 6 } },
    ])
    expect(JSON.stringify(scaled)).toContain('pool=\\"large\\", cell=\\"\\"')
    expect(deploymentOf(manifests, 'runner-pool-large')['spec']).not.toHaveProperty('replicas')
    const budgets = manifests.filter(({ kind }) => kind === 'PodDisruptionBudget').map(component)
    expect(budgets).toContain('runner-pool-large')
    await expect(render(minimal, sets.slice(0, 1))).rejects.toThrow('runners.keda.prometheus')
  })

  test('is held by the policies for user code where its pods are, also while it ends after it was taken from the values', async () => {
    const cell = 'cells.blue.existingSecret=blue'
    const removed = await render(minimal, [cell, 'sandbox.namespace=sandboxes'])
    for (const manifests of [await render(full, [cell]), removed]) {
      const policies = manifests
        .filter(({ kind }) => kind === 'NetworkPolicy')
        .map(({ metadata, spec }) => ({ ...metadata, ...(spec as { podSelector: object; ingress?: object[] }) }))
      const policiesOf = (name: string, namespace = 'automation') =>
        policies
          .filter((each) => each.namespace === namespace && selects(each.podSelector, labelled(name)))
          .map((each) => each.name.replace('release-process-automation-', ''))
          .toSorted()
      for (const runner of ['runner-pool-large', 'runner', 'runner-blue'])
        expect(policiesOf(runner)).toEqual(['default', 'runners', 'user-code'])
      expect(policiesOf('runner-pod', 'sandboxes')).toEqual(['runners', 'user-code'])
      expect(policiesOf('sandbox-pod', 'sandboxes')).toEqual(['sandbox-daemons', 'user-code'])
      for (const service of ['gateway', 'execution', 'execution-blue', 'storage', 'migrations', 'test'])
        expect(policiesOf(service)).not.toContain('user-code')
      const [{ from }] = policies.find(({ name }) => name.endsWith('-for-runners'))!.ingress as [
        { from: { namespaceSelector: object; podSelector: object }[] },
      ]
      const mayCall = (name: string, namespace: string) =>
        from.some(
          ({ namespaceSelector, podSelector }) =>
            selects(namespaceSelector, { 'kubernetes.io/metadata.name': namespace }) &&
            selects(podSelector, labelled(name)),
        )
      expect(mayCall('runner-pool-large', 'automation')).toBe(true)
      expect(mayCall('runner-pod', 'sandboxes')).toBe(true)
      expect(mayCall('sandbox-pod', 'sandboxes')).toBe(false)
      expect(mayCall('runner-pod', 'elsewhere')).toBe(false)
    }
  })

  test('shows its certificate where services ask each other for one', async () => {
    const names = ['gateway', 'process-catalog', 'execution', 'scheduler', 'storage', 'sandbox', 'runner']
    const manifests = await render(
      full,
      names.map((name) => `internalTls.secrets.${name}=tls-of-${name}`),
    )
    expect(envOf(manifests, 'runner-pool-large')).toHaveProperty('INTERNAL_TLS_DIR', '/run/secrets/internal-tls')
    expect(JSON.stringify(podNamed(manifests, 'runner-pool-large').volumes)).toContain('tls-of-runner')
  })

  test.each([
    ['a name that no pool can have', 'runners.pools.Not_One.replicas=1', /Not_One/],
    ['a label that no runner can have', `${large}.labels.Size=x`, /Size/],
    ['what is not known of a pool', `${large}.cell=blue`, /cell/],
    ['a cell whose pods would have the same name', `${large}.slots=1,cells.pool-large.existingSecret=x`, /pool-large/],
  ])('refuses %s', async (_, set, names) => {
    await expect(render(minimal, [set])).rejects.toThrow(names)
  })
})
