import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ClusterUnderTest, hasCluster } from './cluster-under-test.ts'
import { linesOfPod, preparePods } from './runner-pod-report.ts'

/** What apps/runner/test/isolation/pod-attempts.ts prints. */
interface PodReport {
  isolation: string
  results: { level: 'pod' | 'none'; language: 'javascript' | 'python'; name: string; got: boolean; how: string }[]
}

const image = process.env['RUNNER_PODS_TEST_IMAGE']
const missing = hasCluster ? 'RUNNER_PODS_TEST_IMAGE' : 'KUBECONFIG'
const isHere = hasCluster && image !== undefined
const title = 'attempts to get out of the isolation, in a real runner pod'

describe.skipIf(!isHere)(isHere ? title : `${title} (not here: ${missing} not set)`, () => {
  let cluster: ClusterUnderTest
  let report: PodReport

  beforeAll(async () => {
    cluster = await ClusterUnderTest.open('runner-isolation')
    await preparePods(cluster)
    const { lines, end } = await linesOfPod(cluster, {
      image: image!,
      program: 'isolation/pod-attempts.ts',
      timeoutMs: 360_000,
    })
    const line = lines.findLast((each) => each.startsWith('{"isolation":'))
    if (line === undefined) throw new Error(`The pod printed no report (${end}): ${lines.slice(-20).join('\n')}`)
    report = JSON.parse(line) as PodReport
  }, 400_000)
  afterAll(() => cluster.close())

  test('the isolation level that a runner chooses in a pod is `pod`, and it serves one team or is told otherwise', () => {
    expect(report.isolation).toMatch(/^pod\b/)
    expect(report.isolation).toMatch(/namespaces, host network does not hold|namespaces.* does not hold/)
  })

  test.for(['javascript', 'python'] as const)(
    'no attempt gets through for %s, though enough do where there is only the pod',
    (language) => {
      const made = (level: string) =>
        report.results.filter((each) => each.level === level && each.language === language)
      const refused = made('pod')
      const [through, stopped] = [made('none').filter(({ got }) => got), made('none').filter(({ got }) => !got)]
      // What the pod itself refuses shows nothing as a control.
      const byThePod = stopped.map(({ name, how }) => `  ${name}: ${how}`).join('\n')
      console.log(
        `${language}: ${refused.length} attempts in isolation, ${refused.filter(({ got }) => got).length} got through; ` +
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
