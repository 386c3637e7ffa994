import { execFileSync } from 'node:child_process'
import { Environment } from '@automation/service'
import { until } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { podSeen } from '../../src/cluster/pod-seen.ts'
import { readClusterPlace } from '../../src/cluster/place.ts'
import { readRunnerPodsConfig } from '../../src/runner-pods/config.ts'
import { runnerPod } from '../../src/runner-pods/runner-pod.ts'
import { ClusterUnderTest, hasCluster } from './cluster-under-test.ts'

/** What apps/runner/test/isolation/pod-attempts.ts prints. */
interface PodReport {
  wall: string
  results: { wall: 'pod' | 'none'; language: 'javascript' | 'python'; name: string; got: boolean; how: string }[]
}

const image = process.env['RUNNER_PODS_TEST_IMAGE']
const missing = hasCluster ? 'RUNNER_PODS_TEST_IMAGE' : 'KUBECONFIG'
const isHere = hasCluster && image !== undefined
const title = 'attempts to get out of the wall, in a real runner pod'

describe.skipIf(!isHere)(isHere ? title : `${title} (not here: ${missing} not set)`, () => {
  let cluster: ClusterUnderTest
  let report: PodReport

  beforeAll(async () => {
    cluster = await ClusterUnderTest.open('runner-walls')
    report = await reportOf(cluster, image!)
  }, 400_000)
  afterAll(() => cluster.close())

  test('the wall that a runner chooses in a pod is `pod`, and it serves one team or is told otherwise', () => {
    expect(report.wall).toMatch(/^pod\b/)
    expect(report.wall).toMatch(/namespaces, host network does not hold|namespaces.* does not hold/)
  })

  test.for(['javascript', 'python'] as const)(
    'no attempt gets through for %s, though enough do where there is only the pod',
    (language) => {
      const made = (wall: string) => report.results.filter((each) => each.wall === wall && each.language === language)
      const refused = made('pod')
      const [through, stopped] = [made('none').filter(({ got }) => got), made('none').filter(({ got }) => !got)]
      // What the pod itself refuses shows nothing as a control.
      const byThePod = stopped.map(({ name, how }) => `  ${name}: ${how}`).join('\n')
      console.log(
        `${language}: ${refused.length} attempts behind the wall, ${refused.filter(({ got }) => got).length} got through; ` +
          `${through.length} of ${made('none').length} do without it, the pod itself refuses\n${byThePod}`,
      )
      expect(refused.filter(({ got }) => got)).toEqual([])
      expect(refused.filter(({ how }) => !/\w/.test(how))).toEqual([])
      expect(refused.length).toBeGreaterThanOrEqual(60)
      expect(through.length).toBeGreaterThanOrEqual(40)
      expect(through.map(({ name }) => name)).toContain('opens the key of the runner')
    },
  )
})

/** Runs the attempts in a pod as the pool makes it, but for its program. */
async function reportOf({ api, namespace }: ClusterUnderTest, of: string): Promise<PodReport> {
  const folders = [
    '-C',
    'apps/runner/test',
    'isolation',
    'scripted-replica.ts',
    '-C',
    '../../../libs/testing/src',
    'until.ts',
  ]
  const root = new URL('../../../..', import.meta.url)
  const files = execFileSync('tar', ['-cz', ...folders], { cwd: root })
  const name = 'attempts'
  await api.core.createNamespacedConfigMap({
    namespace,
    body: { metadata: { name }, binaryData: { 'files.tgz': files.toString('base64') } },
  })
  await api.core.createNamespacedSecret({
    namespace,
    body: { metadata: { name: 'keys' }, stringData: { RUNNER_KEY: 'for these tests alone' } },
  })
  const env = new Environment({ RUNNER_PODS_IMAGE: of, RUNNER_PODS_SECRET: 'keys' })
  const pod = runnerPod(name, readRunnerPodsConfig(env, readClusterPlace(env))!.pod)
  env.check()
  const [container] = pod.spec!.containers
  const unpacked = '/app/apps/runner/test'
  container!.command = [
    'sh',
    '-c',
    `tar -xzf /files/files.tgz -C ${unpacked} && exec node ${unpacked}/isolation/in-pod.ts`,
  ]
  for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'] as const) delete container![probe]
  container!.volumeMounts!.push(
    { name: 'files', mountPath: '/files', readOnly: true },
    { name: 'unpacked', mountPath: unpacked },
    { name: 'var-tmp', mountPath: '/var/tmp' },
  )
  const empty = ['unpacked', 'var-tmp'].map((each) => ({ name: each, emptyDir: {} }))
  pod.spec!.volumes!.push({ name: 'files', configMap: { name } }, ...empty)
  await api.core.createNamespacedPod({ namespace, body: pod })
  const ended = async () => podSeen(await api.core.readNamespacedPod({ name, namespace })).end
  const end = await until(ended, { timeoutMs: 360_000, everyMs: 500, what: 'the end of the pod' })
  const log = await api.core.readNamespacedPodLog({ name, namespace })
  const line = log.split('\n').findLast((each) => each.startsWith('{"wall":'))
  if (line === undefined) throw new Error(`The pod printed no report (${end}): ${log.slice(-2000)}`)
  return JSON.parse(line) as PodReport
}
