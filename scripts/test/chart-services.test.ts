import { describe, expect, test } from 'vitest'
import {
  component,
  isThere,
  minimal,
  podOf,
  podSettings,
  render,
  valuesFiles,
  type Manifest,
} from '../charts/render.ts'

const services = ['gateway', 'process-catalog', 'execution', 'scheduler', 'storage', 'sandbox']
const objects = ['endpoint=http://s3:9000', 'bucket=files', 'accessKey=one', 'secretKey=two']
const all = [...objects.map((set) => `objectStore.${set}`), 'runners.pools.large.slots=1']

/** What a service may say of its pods, below `path`. */
const own = (path: string) =>
  [
    'podLabels.tier=own',
    'podLabels.owner=team',
    'podAnnotations.note=own',
    'nodeSelector.disk=ssd',
    'tolerations[0].key=own',
    'affinity.nodeAffinity.a=own',
    'priorityClassName=high',
    'extraEnv[0].name=HOST_IP',
    'extraEnv[0].valueFrom.fieldRef.fieldPath=status.hostIP',
    'annotations.reload=auto',
  ].map((set) => `${path}.${set}`)
const metadata = { labels: { tier: 'own', owner: 'team', site: 'all' }, annotations: { note: 'own', scrape: 'no' } }
const placement = {
  nodeSelector: { disk: 'ssd' },
  tolerations: [{ key: 'own' }],
  affinity: { nodeAffinity: { a: 'own' } },
  priorityClassName: 'high',
}
const hostIp = { name: 'HOST_IP', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } }
const forAll = ['owner=all', 'site=all'].map((set) => `podLabels.${set}`)
const global = [...forAll, 'podAnnotations.scrape=no', 'nodeSelector.zone=a', 'priorityClassName=low']

const workload = (manifests: Manifest[], name: string) =>
  manifests.find((each) => /^(Deployment|StatefulSet)$/.test(each.kind) && component(each) === name)!
const templateOf = (manifest: Manifest) => (manifest['spec'] as { template: Manifest }).template

// Without helm there is nothing to try; `npm run check` says so.
describe.runIf(isThere('helm'))('a service of the chart', () => {
  test.each(services)(
    '%s has labels, annotations, nodes and variables of its own, the others those of all',
    async (name) => {
      const manifests = await render(minimal, [...all, ...global, ...own(`services.${name}`)])
      const mine = workload(manifests, name)
      expect(mine.metadata.annotations).toEqual({ reload: 'auto' })
      expect(templateOf(mine).metadata).toMatchObject(metadata)
      expect(templateOf(mine).metadata.labels!['app.kubernetes.io/component']).toBe(name)
      const [pod] = podOf(mine)
      expect(pod).toMatchObject(placement)
      // First, as later ones may speak of it: `http://$(HOST_IP):4318`.
      expect(pod!.containers[0]!.env[0]).toEqual(hostIp)
      for (const other of services.filter((each) => each !== name)) {
        const theirs = workload(manifests, other)
        expect(theirs.metadata).not.toHaveProperty('annotations')
        expect(templateOf(theirs).metadata).toMatchObject({ labels: { owner: 'all', site: 'all' } })
        expect(templateOf(theirs).metadata.labels).not.toHaveProperty('tier')
        expect(podOf(theirs)[0]).toMatchObject({ nodeSelector: { zone: 'a' }, priorityClassName: 'low' })
        expect(podOf(theirs)[0]).not.toHaveProperty('tolerations')
        expect(JSON.stringify(podOf(theirs)[0]!.containers[0]!.env)).not.toContain('HOST_IP')
      }
    },
  )

  test('has a variable once, of its own before the one of the chart', async () => {
    const sets = ['settings.LOG_LEVEL=debug', 'extraEnv[0].name=LOG_LEVEL', 'extraEnv[0].value=warn']
    const manifests = await render(minimal, [sets[0]!, ...sets.slice(1).map((set) => `services.gateway.${set}`)])
    const { env } = podOf(workload(manifests, 'gateway'))[0]!.containers[0]!
    expect(env.filter(({ name }) => name === 'LOG_LEVEL')).toEqual([{ name: 'LOG_LEVEL', value: 'warn' }])
  })

  test('sends traces to its node, which the policy of the gateway lets it', async () => {
    const sets = ['name=HOST_IP', 'valueFrom.fieldRef.fieldPath=status.hostIP'].map((set) => `extraEnv[0].${set}`)
    const manifests = await render(minimal, [...sets, 'tracing.endpoint=http://$(HOST_IP):4318'])
    for (const name of ['gateway', 'execution'])
      expect(podOf(workload(manifests, name))[0]!.containers[0]!.env[0]).toEqual(hostIp)
    const policy = manifests.find(
      ({ kind, metadata: { name } }) => kind === 'NetworkPolicy' && name.endsWith('-gateway'),
    )!
    expect((policy['spec'] as { egress: object[] }).egress).toContainEqual({ ports: [{ port: 4318, protocol: 'TCP' }] })
    expect(JSON.stringify(podSettings(manifests))).not.toContain('HOST_IP')
  })

  test('grows by processor time, by memory, by metrics of the operator, and as fast as these say', async () => {
    const scaled = async (...sets: string[]) => {
      const all = ['minReplicas=2', 'maxReplicas=8', ...sets].map((set) => `services.gateway.autoscaling.${set}`)
      const found = (await render(minimal, all)).find(({ kind }) => kind === 'HorizontalPodAutoscaler')!
      return found['spec'] as { metrics: object[]; behavior?: object }
    }
    const utilization = (name: string, percent: number) => ({
      type: 'Resource',
      resource: { name, target: { type: 'Utilization', averageUtilization: percent } },
    })
    expect(await scaled('cpuPercent=70')).toMatchObject({
      minReplicas: 2,
      maxReplicas: 8,
      metrics: [utilization('cpu', 70)],
    })
    expect(await scaled('cpuPercent=70')).not.toHaveProperty('behavior')
    expect((await scaled('memoryPercent=80')).metrics).toEqual([utilization('memory', 80)])
    const own = [
      'metrics[0].type=Pods',
      'metrics[0].pods.metric.name=calls',
      'behavior.scaleDown.stabilizationWindowSeconds=600',
    ]
    expect(await scaled('cpuPercent=70', 'memoryPercent=80', ...own)).toMatchObject({
      metrics: [
        utilization('cpu', 70),
        utilization('memory', 80),
        { type: 'Pods', pods: { metric: { name: 'calls' } } },
      ],
      behavior: { scaleDown: { stabilizationWindowSeconds: 600 } },
    })
    // Without any the cluster would take a percentage of its own.
    await expect(scaled()).rejects.toThrow(/autoscaling/)
  })

  test.each(valuesFiles)(
    'and all that is made beside it has the labels that the operator wants on everything: %s',
    async (values) => {
      const manifests = await render(values, [
        'commonLabels.owner=platform',
        'commonLabels.release=mine',
        'podLabels.owner=pods',
      ])
      expect(manifests.length).toBeGreaterThan(30)
      for (const manifest of manifests) expect(manifest.metadata.labels, manifest.metadata.name).toHaveProperty('owner')
      const [service] = manifests.filter(({ kind }) => kind === 'Service')
      expect(service!.metadata.labels).toMatchObject({ owner: 'platform', release: 'mine' })
      expect(templateOf(workload(manifests, 'gateway')).metadata.labels).toMatchObject({
        owner: 'pods',
        release: 'mine',
      })
      expect(podSettings(manifests)).toMatchObject({ metadata: { labels: { owner: 'pods', release: 'mine' } } })
      // Those by which a Prometheus selects its objects count before them.
      const monitors = manifests.filter(({ kind }) => /^(ServiceMonitor|PrometheusRule)$/.test(kind))
      for (const { metadata } of monitors) expect(metadata.labels).toMatchObject({ release: 'prometheus' })
    },
  )

  test('spreads the pods of an update by themselves, and lets a node be emptied of pods that are not well', async () => {
    const manifests = await render(minimal)
    const spread = podOf(workload(manifests, 'gateway'))[0] as unknown as { topologySpreadConstraints: object[] }
    // Pods that are to go would count as if they stayed, and those that come meet in one zone.
    for (const constraint of spread.topologySpreadConstraints)
      expect(constraint).toMatchObject({ matchLabelKeys: ['pod-template-hash'] })
    const sets = await render(minimal, ['services.gateway.kind=StatefulSet'])
    expect(JSON.stringify(podOf(workload(sets, 'gateway')))).toContain('"matchLabelKeys":["controller-revision-hash"]')
    const budgets = manifests.filter(({ kind }) => kind === 'PodDisruptionBudget')
    expect(budgets.length).toBeGreaterThan(2)
    for (const { spec } of budgets) expect(spec).toMatchObject({ unhealthyPodEvictionPolicy: 'AlwaysAllow' })
  })

  test('has the headless Service that a StatefulSet names, whatever its ports', async () => {
    const manifests = await render(minimal, [...all, ...services.map((name) => `services.${name}.kind=StatefulSet`)])
    for (const name of services) {
      const { serviceName } = workload(manifests, name).spec as { serviceName: string }
      const headless = manifests.find(({ kind, metadata }) => kind === 'Service' && metadata.name === serviceName)
      const { clusterIP, ports } = headless!.spec as { clusterIP: string; ports: { name: string }[] }
      expect(clusterIP, name).toBe('None')
      // Without that of its metrics: Prometheus would find each pod twice.
      if (name === 'gateway')
        expect(ports.map((port) => port.name)).toEqual(['console', 'http', 'sandbox-grpc', 'sandbox-http'])
      else expect(ports.map((port) => port.name)).toEqual(['grpc'])
    }
  })

  test('fits a quota on processor time, Jobs and tests too', async () => {
    const limited = ['migrations', 'test'].map((name) => `${name}.resources.limits.cpu=1`)
    const manifests = await render(minimal, limited)
    const pods = manifests.filter((each) => ['migrations', 'test'].includes(component(each) ?? '')).flatMap(podOf)
    expect(pods).toHaveLength(2)
    for (const { name, resources } of pods.flatMap(({ containers }) => containers))
      expect(resources.limits, name).toHaveProperty('cpu')
  })

  test('has runners with nodes, labels and variables of their own, of a Deployment, a pool, a cell and on demand', async () => {
    const code = [
      'userCode.nodeSelector.pool=code',
      'userCode.tolerations[0].key=code',
      'userCode.priorityClassName=lowest',
    ]
    const sets = [...all, ...global, ...code, ...own('runners')]
    const cell = ['runners.kind=deployment', 'cells.blue.existingSecret=blue']
    const deployed = await render(minimal, [...sets, ...cell, 'runners.pools.large.nodeSelector.size=large'])
    for (const name of ['runner', 'runner-blue', 'runner-pool-large']) {
      const runner = workload(deployed, name)
      expect(templateOf(runner).metadata, name).toMatchObject(metadata)
      const nodeSelector = name === 'runner-pool-large' ? { size: 'large' } : placement.nodeSelector
      expect(podOf(runner)[0], name).toMatchObject({ ...placement, nodeSelector })
      expect(podOf(runner)[0]!.containers[0]!.env[0], name).toEqual(hostIp)
    }
    // What a sandbox service of before does not know is in its file only where it is asked for.
    for (const given of [[], [...global, ...code]]) {
      const { runners, ...others } = podSettings(await render(minimal, given)) as { runners: object }
      expect(Object.keys({ ...runners, ...others })).not.toContain('runAsUser')
      for (const name of ['metadata', 'placement']) expect(runners).not.toHaveProperty(name)
    }
    const pods = podSettings(await render(minimal, sets))
    expect(pods).toMatchObject({ runners: { metadata, placement, variables: [hostIp] } })
    // Sandboxes are where the code of users is.
    expect(pods).toMatchObject({
      metadata: { labels: { owner: 'all', site: 'all' } },
      placement: { nodeSelector: { pool: 'code' }, tolerations: [{ key: 'code' }], priorityClassName: 'lowest' },
    })
  })

  test.each([
    ['a label of the chart', 'podLabels.app\\.kubernetes\\.io/component=x', 'component'],
    [
      'a secret as a variable',
      'extraEnv[0].name=A,services.gateway.extraEnv[0].valueFrom.secretKeyRef.name=b',
      'extraEnv',
    ],
  ])('refuses %s', async (_, set, named) => {
    await expect(render(minimal, [`services.gateway.${set}`])).rejects.toThrow(named)
  })
})
