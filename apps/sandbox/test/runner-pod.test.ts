import { Environment } from '@automation/service'
import { expect, test } from 'vitest'
import { readPodsFile } from '../src/cluster/config.ts'
import { readRunnerPodsConfig } from '../src/runner-pods/config.ts'
import { sandboxLabel, sandboxPod, warmLabel } from '../src/drivers/kubernetes/sandbox-pod.ts'
import { runnerPod, specHash } from '../src/runner-pods/runner-pod.ts'
import { podsFile } from './pods-file.ts'

test('the pod of a runner is told where execution and storage are, and has its key as a file', () => {
  const env = new Environment({
    KUBERNETES_PODS: podsFile({}, { image: 'runner:1', secret: 'runner-key' }),
    SERVICE_ADDRESSES: 'execution=execution-0:9102,execution=execution-1:9102,storage=storage:9104',
  })
  const { pod } = readRunnerPodsConfig(env, readPodsFile(env))!
  env.check()
  const [container] = runnerPod('one', pod).spec!.containers
  const variables = Object.fromEntries(container!.env!.map(({ name, value }) => [name, value]))
  expect(variables).toMatchObject({
    SERVICE_ADDRESSES: 'execution=execution-0:9102,execution=execution-1:9102,storage=storage:9104',
    RUNNER_KEY_FILE: expect.stringMatching(/^\//),
  })
  expect(variables).not.toHaveProperty('RUNNER_KEY')
})

test('a runner pod asks a node for its request, may take its limit, and lets an autoscaler empty its node', () => {
  const podOf = (members: object) => {
    const runners = { image: 'runner:1', secret: 'runner-key', memory: '2Gi', ...members }
    const env = new Environment({ KUBERNETES_PODS: podsFile({}, runners) })
    const { pod } = readRunnerPodsConfig(env, readPodsFile(env))!
    env.check()
    return runnerPod('one', pod)
  }
  const resourcesOf = (members: object) => podOf(members).spec!.containers[0]!.resources
  expect(resourcesOf({ cpu: '100m', memoryRequest: '512Mi' })).toEqual({
    requests: { cpu: '100m', memory: '512Mi' },
    limits: { memory: '2048Mi' },
  })
  expect(resourcesOf({})?.requests?.['memory']).toBe('2048Mi')
  expect(resourcesOf({ memoryRequest: '4Gi' })?.requests?.['memory']).toBe('2048Mi')
  expect(podOf({}).metadata?.annotations).toEqual({ 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true' })
})

test('a sandbox keeps its node, one that is only kept ready does not', () => {
  const image = { id: 'base', image: 'base:1', memoryMb: 512, warm: 1 }
  const settings = { daemonImage: 'daemon:1', homeMb: 512, placement: {}, fixedIds: true }
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
    const file = podsFile({}, { image: 'runner:1', secret: 'runner-key', ...members })
    const env = new Environment({ KUBERNETES_PODS: file })
    const { pod } = readRunnerPodsConfig(env, readPodsFile(env))!
    env.check()
    return runnerPod('one', pod).spec!
  }
  const { containers, volumes } = podOf({ tlsSecret: 'runner-tls' })
  const { mountPath } = containers[0]!.volumeMounts!.find(({ name }) => name === 'tls')!
  expect(containers[0]!.env).toContainEqual({ name: 'INTERNAL_TLS_DIR', value: mountPath })
  expect(volumes).toContainEqual({ name: 'tls', secret: { secretName: 'runner-tls', defaultMode: 0o440 } })
  expect(JSON.stringify(podOf({}))).not.toMatch(/tls/i)
})

test('runner pods and pods of sandboxes run on the nodes that are meant for the code of users', () => {
  const placement = {
    nodeSelector: { pool: 'user-code' },
    tolerations: [{ key: 'user-code', operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
    priorityClassName: 'low',
  }
  const env = new Environment({ KUBERNETES_PODS: podsFile({ placement }, { image: 'runner:1', secret: 'runner-key' }) })
  const pods = readPodsFile(env)
  const { pod } = readRunnerPodsConfig(env, pods)!
  env.check()
  expect(runnerPod('one', pod).spec).toMatchObject(placement)
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
  expect(specHash({ ...pod, placement: {} })).not.toBe(specHash(pod))
})

test('pods name their user and groups unless the cluster gives them some', () => {
  const securityOf = (members: object) => {
    const env = new Environment({ KUBERNETES_PODS: podsFile(members, { image: 'runner:1', secret: 'runner-key' }) })
    const pods = readPodsFile(env)
    const { pod } = readRunnerPodsConfig(env, pods)!
    env.check()
    const image = { id: 'base', image: 'base:1', cpus: 1, memoryMb: 64, warm: 0 }
    const named = { name: 'two', labels: {}, image, mark: { nonce: '', digest: '' } }
    const sandbox = sandboxPod(named, { ...pods.cluster, daemonImage: 'daemon:1', homeMb: 64 })
    return [runnerPod('one', pod), sandbox].map(({ spec }) => spec?.securityContext)
  }
  const ids = { runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 }
  const restricted = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } }
  expect(securityOf({})).toEqual([
    { ...restricted, ...ids },
    { ...restricted, ...ids },
  ])
  expect(securityOf({ fixedIds: false })).toEqual([restricted, restricted])
})

test('what is wrong in the file of runner pods is told, all of it', () => {
  const members = { image: 'runner:1', max: 0, memory: 'much', pullSecrets: 'one', slots: 3 }
  const placement = { nodeSelector: { a: 1 }, tolerations: {}, nodeName: 'one' }
  const env = new Environment({ KUBERNETES_PODS: podsFile({ instance: 'A', size: 1, placement }, members) })
  readRunnerPodsConfig(env, readPodsFile(env))
  const faults = env.faults().map((fault) => fault.replace(/^KUBERNETES_PODS names \S+, /, ''))
  expect(faults).toEqual([
    'whose member size is not known',
    'whose instance must be 1 to 53 of a-z, 0-9 and inner hyphens',
    'whose placement.nodeName is not known',
    'whose placement.nodeSelector must be an object of texts',
    'whose placement.tolerations must be a list of objects',
    'whose runners.pullSecrets must be a list of texts',
    'whose runners.slots is not known',
    'whose runners.max must be a whole number from 1 to 1000, not "0"',
    'whose runners.memory must be an amount such as 2Gi, not "much"',
    'whose runners.secret must name the Secret with the entry RUNNER_KEY',
  ])
})
