import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { podKeyOf } from '@automation/rpc/key-ring'
import { Environment } from '@automation/service'
import { until } from '@automation/testing'
import { v7 } from 'uuid'
import { readPodsFile } from '../../src/cluster/config.ts'
import { podSeen } from '../../src/cluster/pod-seen.ts'
import { readRunnerPodsConfig } from '../../src/runner-pods/config.ts'
import { keySecretOf, runnerPod } from '../../src/runner-pods/runner-pod.ts'
import type { ClusterUnderTest } from './cluster-under-test.ts'
import { podsFile } from '../pods-file.ts'

export interface PodProgram {
  /** Of runners. */
  image: string
  /** Below apps/runner/test, and what it is told. */
  program: string
  timeoutMs: number
}

const folders = ['-C', 'apps/runner/test', 'isolation', 'limits', 'scripted-replica.ts', 'settled.ts']
const untilFile = ['-C', '../../../libs/testing/src', 'until.ts']
const files = 'files'
const unpacked = '/app/apps/runner/test'

/** Brings what such programs need into a namespace; once. */
export async function preparePods({ api, namespace }: ClusterUnderTest): Promise<void> {
  const root = new URL('../../../..', import.meta.url)
  const packed = execFileSync('tar', ['-cz', ...folders, ...untilFile], { cwd: root })
  await api.core.createNamespacedConfigMap({
    namespace,
    body: { metadata: { name: files }, binaryData: { 'files.tgz': packed.toString('base64') } },
  })
}

/** What a program prints, line by line, that runs in a pod as the pool makes it but for its command; and how the pod ended. */
export async function linesOfPod(
  { api, namespace }: ClusterUnderTest,
  { image, program, timeoutMs }: PodProgram,
): Promise<{ lines: string[]; end: string }> {
  const runnerKey = 'for these tests alone '.repeat(2)
  const env = new Environment({ KUBERNETES_PODS: podsFile({}, { image }), RUNNER_KEY: runnerKey })
  const name = `attempts-${randomBytes(4).toString('hex')}`
  const pod = runnerPod({ name, keyId: v7() }, readRunnerPodsConfig(env, readPodsFile(env))!.pod)
  env.check()
  const [container] = pod.spec!.containers
  const start = `exec node ${unpacked}/isolation/in-pod.ts ${program}`
  container!.command = ['sh', '-c', `tar -xzf /files/files.tgz -C ${unpacked} && ${start}`]
  for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'] as const) delete container![probe]
  container!.volumeMounts!.push(
    { name: files, mountPath: '/files', readOnly: true },
    { name: 'unpacked', mountPath: unpacked },
    { name: 'var-tmp', mountPath: '/var/tmp' },
  )
  const empty = ['unpacked', 'var-tmp'].map((each) => ({ name: each, emptyDir: {} }))
  pod.spec!.volumes!.push({ name: files, configMap: { name: files } }, ...empty)
  const made = podSeen(await api.core.createNamespacedPod({ namespace, body: pod }))
  const secret = keySecretOf(made, (id) => podKeyOf(runnerKey, { id, pool: 'default' }))!
  await api.core.createNamespacedSecret({ namespace, body: secret })
  const ended = async () => podSeen(await api.core.readNamespacedPod({ name, namespace })).end
  const end = await until(ended, { timeoutMs, everyMs: 500, what: 'the end of the pod' })
  const log = await api.core.readNamespacedPodLog({ name, namespace })
  return { lines: log.split('\n').filter((line) => line !== ''), end }
}
