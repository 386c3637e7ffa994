import { podKeyOf, runnerKeyOf } from '@automation/rpc/key-ring'
import { Environment } from '@automation/service'
import { expect, test } from 'vitest'
import { Catalogue } from '../src/catalogue.ts'
import { readPodsFile } from '../src/cluster/config.ts'
import { readRunnerPodsConfig } from '../src/runner-pods/config.ts'
import { sandboxLabel, sandboxPod, specOf, warmLabel } from '../src/drivers/kubernetes/sandbox-pod.ts'
import { keySecretOf, runnerPod, specHash } from '../src/runner-pods/runner-pod.ts'
import { podsFile } from './pods-file.ts'

const runnerKey = 'a key of the tests that is long enough'
const one = { name: 'one', keyId: '0198c0de-0000-7000-8000-000000000001' }
const environmentOf = (pods: string) => new Environment({ KUBERNETES_PODS: pods, RUNNER_KEY: runnerKey })

test('the pod of a runner is told where execution and storage are, and has its own key as a file', () => {
  const env = new Environment({
    RUNNER_KEY: runnerKey,
    KUBERNETES_PODS: podsFile({}, { image: 'runner:1' }),
    SERVICE_ADDRESSES: 'execution=execution-0:9102,execution=execution-1:9102,storage=storage:9104',
  })
  const { pod, ...config } = readRunnerPodsConfig(env, readPodsFile(env))!
  env.check()
  const made = runnerPod(one, pod)
  const [container] = made.spec!.containers
  const variables = Object.fromEntries(container!.env!.map(({ name, value }) => [name, value]))
  expect(variables).toMatchObject({
    SERVICE_ADDRESSES: 'execution=execution-0:9102,execution=execution-1:9102,storage=storage:9104',
    RUNNER_KEY_FILE: expect.stringMatching(/^\//),
  })
  expect(variables).not.toHaveProperty('RUNNER_KEY')
  // Where a cluster has addresses of IPv6 alone its settings say so, as to other pods.
  expect(variables['INTERNAL_HOST']).toBe('0.0.0.0')
  const elsewhere = runnerPod(one, { ...pod, environment: { INTERNAL_HOST: '::' } }).spec!.containers[0]!
  expect(elsewhere.env).toContainEqual({ name: 'INTERNAL_HOST', value: '::' })
  const seen = { name: 'one', uid: 'uid-1', labels: made.metadata!.labels! }
  const secret = keySecretOf(seen, (id) => podKeyOf(config.runnerKey, { id, pool: pod.pool }))!
  expect(made.spec!.volumes).toContainEqual({
    name: 'key',
    secret: expect.objectContaining({ secretName: secret.metadata!.name }) as object,
  })
  expect(secret.metadata!.ownerReferences).toEqual([{ apiVersion: 'v1', kind: 'Pod', name: 'one', uid: 'uid-1' }])
  const own = podKeyOf(runnerKey, { id: one.keyId, pool: 'default' })
  expect(secret).toMatchObject({ type: 'Opaque', stringData: { RUNNER_KEY: own } })
  // A later pod of this name waits for another Secret.
  const later = runnerPod({ ...one, keyId: '0198c0de-0000-7000-8000-000000000002' }, pod)
  expect(JSON.stringify(later.spec!.volumes)).not.toContain(secret.metadata!.name)
})

test('the key of runner pods is made of those of the services, which must have one that all runners share', () => {
  const faultsOf = (values: Record<string, string>) => {
    const env = new Environment({ KUBERNETES_PODS: podsFile({}, { image: 'runner:1' }), ...values })
    const config = readRunnerPodsConfig(env, readPodsFile(env))!
    return { faults: env.faults(), key: config.runnerKey }
  }
  expect(faultsOf({ INTERNAL_KEY: runnerKey })).toEqual({ faults: [], key: runnerKeyOf(runnerKey) })
  expect(faultsOf({ INTERNAL_KEY: runnerKey, RUNNER_KEY: `${runnerKey}s` }).key).toBe(`${runnerKey}s`)
  expect(faultsOf({}).faults).toEqual(['RUNNER_KEY must be set'])
  const ofPod = podKeyOf(runnerKey, { id: one.keyId, pool: 'default' })
  expect(faultsOf({ RUNNER_KEY: ofPod }).faults).toEqual(['RUNNER_KEY must have a key that all runners share'])
})

test('a runner pod asks a node for its request, may take its limit, and lets an autoscaler empty its node', () => {
  const podOf = (members: object) => {
    const runners = { image: 'runner:1', memory: '2Gi', ...members }
    const env = environmentOf(podsFile({}, runners))
    const { pod } = readRunnerPodsConfig(env, readPodsFile(env))!
    env.check()
    return runnerPod(one, pod)
  }
  const resourcesOf = (members: object) => podOf(members).spec!.containers[0]!.resources
  expect(resourcesOf({ cpu: '100m', memoryRequest: '512Mi' })).toEqual({
    requests: { cpu: '100m', memory: '512Mi' },
    limits: { memory: '2048Mi' },
  })
  expect(resourcesOf({})?.requests?.['memory']).toBe('2048Mi')
  expect(resourcesOf({ memoryRequest: '4Gi' })?.requests?.['memory']).toBe('2048Mi')
  // Others too: the node's disk, devices.
  const others = { requests: { 'ephemeral-storage': '9Gi' }, limits: { 'example.com/gpu': '1' } }
  expect(resourcesOf({ cpu: '100m', resources: others })).toEqual({
    requests: { cpu: '100m', memory: '2048Mi', 'ephemeral-storage': '9Gi' },
    limits: { memory: '2048Mi', 'example.com/gpu': '1' },
  })
  expect(() => podOf({ resources: { requests: { disk: 9 } } })).toThrow('runners.resources must be')
  expect(podOf({}).metadata?.annotations).toEqual({ 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true' })
})

test('a sandbox keeps its node, one that is only kept ready does not', () => {
  const image = { id: 'base', image: 'base:1', memoryMb: 512, warm: 1 }
  const settings = { ...readPodsFile(environmentOf(podsFile({}))).cluster, daemonImage: 'daemon:1', homeMb: 512 }
  const annotationsOf = (labels: Record<string, string>) =>
    sandboxPod({ name: 'one', labels, image, mark: { nonce: '', digest: '' } }, settings).metadata?.annotations
  expect(annotationsOf({ [sandboxLabel]: 'sb-1' })).toMatchObject({
    'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
    'karpenter.sh/do-not-disrupt': 'true',
  })
  const ready = annotationsOf({ [warmLabel]: 'true' })
  expect(ready).toMatchObject({ 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true' })
  expect(ready).not.toHaveProperty('karpenter.sh/do-not-disrupt')
})

test('the pod of a runner has its certificate as files where services ask for one, and nothing of it where not', () => {
  const podOf = (members: object) => {
    const file = podsFile({}, { image: 'runner:1', ...members })
    const env = environmentOf(file)
    const { pod } = readRunnerPodsConfig(env, readPodsFile(env))!
    env.check()
    return runnerPod(one, pod).spec!
  }
  const { containers, volumes } = podOf({ tlsSecret: 'runner-tls' })
  const { mountPath } = containers[0]!.volumeMounts!.find(({ name }) => name === 'tls')!
  expect(containers[0]!.env).toContainEqual({ name: 'INTERNAL_TLS_DIR', value: mountPath })
  expect(volumes).toContainEqual({ name: 'tls', secret: { secretName: 'runner-tls', defaultMode: 0o440 } })
  expect(JSON.stringify(podOf({}))).not.toMatch(/tls/i)
})

test('the pod of a runner has settings as files of a Secret that is named, whose mere names are in its specification', () => {
  const secret = { name: 'registries', settings: ['NPM_REGISTRY', 'PYPI_INDEX_URL'] }
  const read = (given: object) => {
    const env = environmentOf(podsFile({}, { image: 'runner:1', secret: given }))
    const { pod } = readRunnerPodsConfig(env, readPodsFile(env))!
    return { faults: env.faults(), spec: runnerPod(one, pod).spec! }
  }
  const { faults, spec } = read(secret)
  expect(faults).toEqual([])
  const { mountPath, name, readOnly } = spec.containers[0]!.volumeMounts!.at(-1)!
  expect(readOnly).toBe(true)
  const items = secret.settings.map((key) => ({ key, path: key }))
  expect(spec.volumes).toContainEqual({ name, secret: { secretName: 'registries', defaultMode: 0o440, items } })
  for (const setting of secret.settings)
    expect(spec.containers[0]!.env).toContainEqual({ name: `${setting}_FILE`, value: `${mountPath}/${setting}` })
  for (const wrong of [{ name: 'a' }, { settings: ['A'] }, { name: 'a', settings: ['../a'] }, { ...secret, b: 1 }])
    expect(read(wrong).faults.join()).toContain('runners.secret must be')
})

test('the pod of a runner has volumes of the operator to read, which can be none with secrets', () => {
  const mounts = { volumeMounts: [{ name: 'authorities', mountPath: '/etc/automation-authorities' }] }
  const read = (volume: object) => {
    const env = environmentOf(podsFile({}, { image: 'runner:1', volumes: [volume], ...mounts }))
    const { pod } = readRunnerPodsConfig(env, readPodsFile(env))!
    return { faults: env.faults(), spec: runnerPod(one, pod).spec! }
  }
  const volume = { name: 'authorities', configMap: { name: 'mine' } }
  const { faults, spec } = read(volume)
  expect(faults).toEqual([])
  expect(spec.volumes).toContainEqual(volume)
  expect(spec.containers[0]!.volumeMounts).toContainEqual({ ...mounts.volumeMounts[0], readOnly: true })
  const others = [{ secret: { secretName: 'a' } }, { projected: {} }, { hostPath: { path: '/' } }, { csi: {} }]
  for (const other of others) {
    expect(read({ name: 'authorities', ...other }).faults.join()).toContain('runners.volumes must be')
    expect(read({ ...volume, ...other }).faults.join()).toContain('runners.volumes must be')
  }
})

test('runner pods and pods of sandboxes run on the nodes that are meant for the code of users', () => {
  const placement = {
    nodeSelector: { pool: 'user-code' },
    tolerations: [{ key: 'user-code', operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
    priorityClassName: 'low',
  }
  const env = environmentOf(podsFile({ placement }, { image: 'runner:1' }))
  const pods = readPodsFile(env)
  const { pod } = readRunnerPodsConfig(env, pods)!
  env.check()
  expect(runnerPod(one, pod).spec).toMatchObject(placement)
  const image = { id: 'base', image: 'base:1', cpus: 1, memoryMb: 64, warm: 0 }
  const sandbox = sandboxPod(
    { name: 'two', labels: {}, image, mark: { nonce: '', digest: '' } },
    { ...pods.cluster, daemonImage: 'daemon:1', homeMb: 64 },
  )
  expect(sandbox.spec).toMatchObject({
    ...placement,
    tolerations: expect.arrayContaining(placement.tolerations),
  })
  // Another placement is another kind of pod: those that are kept ready are made anew.
  expect(specHash({ ...pod, placement: {} }, 'key')).not.toBe(specHash(pod, 'key'))
  expect(specHash(pod, 'another key')).not.toBe(specHash(pod, 'key'))
})

test('sandboxes listen in clusters of IPv4 and of IPv6', () => {
  const env = environmentOf(podsFile({}, { image: 'runner:1' }))
  const settings = { ...readPodsFile(env).cluster, daemonImage: 'daemon:1', homeMb: 64 }
  const image = { id: 'base', image: 'base:1', cpus: 1, memoryMb: 64, warm: 0 }
  const sandbox = sandboxPod({ name: 'two', labels: {}, image, mark: { nonce: '', digest: '' } }, settings)
  expect(sandbox.spec!.containers[0]!.env).toContainEqual({ name: 'DAEMON_LISTEN', value: '[::]:9400' })
})

test('runner pods and pods of sandboxes have labels and annotations of the operator, beside those of ours', () => {
  const evictable = 'cluster-autoscaler.kubernetes.io/safe-to-evict'
  const metadata = {
    labels: { owner: 'platform', [sandboxLabel]: 'another' },
    annotations: { note: 'mine', [evictable]: 'maybe' },
  }
  const env = environmentOf(podsFile({ metadata }, { image: 'runner:1' }))
  const pods = readPodsFile(env)
  const { pod } = readRunnerPodsConfig(env, pods)!
  env.check()
  expect(runnerPod(one, pod).metadata).toMatchObject({
    labels: { owner: 'platform' },
    annotations: { note: 'mine', [evictable]: 'true' },
  })
  const image = { id: 'base', image: 'base:1', cpus: 1, memoryMb: 64, warm: 0 }
  const named = { name: 'two', labels: { [sandboxLabel]: 'sb-1' }, image, mark: { nonce: '', digest: '' } }
  const settings = { ...pods.cluster, daemonImage: 'daemon:1', homeMb: 64 }
  expect(sandboxPod(named, settings).metadata).toMatchObject({
    labels: { owner: 'platform', [sandboxLabel]: 'sb-1' },
    annotations: { note: 'mine', [evictable]: 'false' },
  })
  // Those that are kept ready are made anew.
  expect(specHash({ ...pod, metadata: {} }, 'key')).not.toBe(specHash(pod, 'key'))
  expect(specOf(image, { ...settings, metadata: {} })).not.toBe(specOf(image, settings))
})

test('runner pods have nodes, marks and variables of their own where they are named, in place of those of sandboxes', () => {
  const all = { placement: { nodeSelector: { pool: 'all' } }, metadata: { labels: { owner: 'all' } } }
  const variables = [{ name: 'HOST_IP', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } }]
  const own = {
    placement: { nodeSelector: { pool: 'own' } },
    metadata: { annotations: { note: 'own' } },
    variables,
    settings: { OTHER: 'at $(HOST_IP)' },
  }
  const read = (members: object) => {
    const env = environmentOf(podsFile(all, { image: 'runner:1', ...members }))
    const pods = readPodsFile(env)
    return { pod: readRunnerPodsConfig(env, pods)!.pod, cluster: pods.cluster, faults: env.faults() }
  }
  const { pod, cluster, faults } = read(own)
  expect(faults).toEqual([])
  expect(cluster).toMatchObject(all)
  const { spec, metadata } = runnerPod(one, pod)
  expect(spec!.nodeSelector).toEqual({ pool: 'own' })
  expect(metadata).toMatchObject({ annotations: { note: 'own' } })
  expect(metadata!.labels).not.toHaveProperty('owner')
  // A variable speaks of those before it.
  const { env } = spec!.containers[0]!
  expect(env![0]).toEqual(variables[0])
  expect(env).toContainEqual({ name: 'OTHER', value: 'at $(HOST_IP)' })
  const wrong = [
    { name: 'A', valueFrom: { secretKeyRef: { name: 'a', key: 'b' } } },
    { value: 'a' },
    { name: 'A', value: 1 },
  ]
  for (const variable of wrong)
    expect(read({ variables: [variable] }).faults.join()).toContain('runners.variables must be')
  expect(read({ placement: { nodeName: 'a' } }).faults.join()).toContain(
    'whose runners.placement.nodeName is not known',
  )
})

test('pods are let in by the registry, but for images that callers name', () => {
  const env = environmentOf(podsFile({ pullSecrets: ['registry'] }, { image: 'runner:1' }))
  const pods = readPodsFile(env)
  const { pod } = readRunnerPodsConfig(env, pods)!
  env.check()
  const catalogue = new Catalogue([{ id: 'base', image: 'base:1', memoryMb: 64, warm: 0 }], true)
  const sandboxOf = (id: string) => {
    const named = { name: 'two', labels: {}, image: catalogue.find(id)!, mark: { nonce: '', digest: '' } }
    return sandboxPod(named, { ...pods.cluster, daemonImage: 'daemon:1', homeMb: 64 })
  }
  const secrets = [{ name: 'registry' }]
  expect(runnerPod(one, pod).spec?.imagePullSecrets).toEqual(secrets)
  expect(sandboxOf('base').spec?.imagePullSecrets).toEqual(secrets)
  expect(sandboxOf('registry.example.com/team/another').spec?.imagePullSecrets).toBeUndefined()
})

test('pods name their user and groups unless the cluster gives them some', () => {
  const securityOf = (members: object) => {
    const env = environmentOf(podsFile(members, { image: 'runner:1' }))
    const pods = readPodsFile(env)
    const { pod } = readRunnerPodsConfig(env, pods)!
    env.check()
    const image = { id: 'base', image: 'base:1', cpus: 1, memoryMb: 64, warm: 0 }
    const named = { name: 'two', labels: {}, image, mark: { nonce: '', digest: '' } }
    const sandbox = sandboxPod(named, { ...pods.cluster, daemonImage: 'daemon:1', homeMb: 64 })
    return [runnerPod(one, pod), sandbox].map(({ spec }) => spec?.securityContext)
  }
  const ids = { runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 }
  const restricted = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } }
  expect(securityOf({})).toEqual([
    { ...restricted, ...ids },
    { ...restricted, ...ids },
  ])
  const others = { runAsUser: 2345, runAsGroup: 2345, fsGroup: 2345 }
  expect(securityOf({ runAsUser: 2345 })).toEqual([
    { ...restricted, ...others },
    { ...restricted, ...others },
  ])
  expect(securityOf({ fixedIds: false })).toEqual([restricted, restricted])
})

test('what is wrong in the file of runner pods is told, all of it', () => {
  const members = { image: 'runner:1', max: 0, memory: 'much', slots: 3 }
  const placement = { nodeSelector: { a: 1 }, tolerations: {}, nodeName: 'one' }
  const env = environmentOf(
    podsFile(
      {
        instance: 'A',
        size: 1,
        runAsUser: 0,
        pullSecrets: 'one',
        placement,
        metadata: { labels: { a: 1 }, name: 'a' },
      },
      members,
    ),
  )
  readRunnerPodsConfig(env, readPodsFile(env))
  const faults = env.faults().map((fault) => fault.replace(/^KUBERNETES_PODS names \S+, /, ''))
  expect(faults).toEqual([
    'whose member size is not known',
    'whose instance must be 1 to 53 of a-z, 0-9 and inner hyphens',
    'whose runAsUser must be a whole number from 1',
    'whose pullSecrets must be a list of texts',
    'whose placement.nodeName is not known',
    'whose placement.nodeSelector must be an object of texts',
    'whose placement.tolerations must be a list of objects',
    'whose metadata.name is not known',
    'whose metadata.labels must be an object of texts',
    'whose runners.slots is not known',
    'whose runners.max must be a whole number from 1 to 1000, not "0"',
    'whose runners.memory must be an amount such as 2Gi, not "much"',
  ])
})
