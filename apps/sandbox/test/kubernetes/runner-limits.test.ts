import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ClusterUnderTest, hasCluster } from './cluster-under-test.ts'
import { linesOfPod, preparePods } from './runner-pod-report.ts'

/** As apps/runner/test/limits/pod-limits.ts prints it; with the end of the pod where it ended that. */
interface Tried {
  kind: 'limit' | 'channel' | 'before'
  language: 'javascript' | 'python'
  name: string
  faults: string[]
}

const image = process.env['RUNNER_PODS_TEST_IMAGE']
const missing = hasCluster ? 'RUNNER_PODS_TEST_IMAGE' : 'KUBECONFIG'
const isHere = hasCluster && image !== undefined
const title = 'in a real runner pod'
const mostPods = 8

describe.skipIf(!isHere)(isHere ? title : `${title} (not here: ${missing} not set)`, () => {
  let cluster: ClusterUnderTest
  let isolation = ''
  const tried: Tried[] = []
  /** How pods ended before all was tried, and what was tried last, by its position. */
  const ends: { position: number; end: string }[] = []

  beforeAll(async () => {
    cluster = await ClusterUnderTest.open('runner-limits')
    await preparePods(cluster)
    let position = 0
    for (let pods = 0; pods < mostPods; pods += 1) {
      const program = `limits/pod-limits.ts ${position}`
      const { lines, end } = await linesOfPod(cluster, { image: image!, program, timeoutMs: 900_000 })
      const parsed = lines
        .filter((line) => /^{"(isolation|kind)":/.test(line))
        .map((line) => JSON.parse(line) as object)
      const [first, ...results] = parsed as [{ isolation: string; count: number }, ...Tried[]]
      isolation = first.isolation
      tried.push(...results)
      position += results.length
      if (position === first.count) return
      ends.push({ position, end })
      position += 1
    }
  }, 1_800_000)
  afterAll(() => cluster.close())

  test('the isolation level is that of pods', () => {
    expect(isolation).toMatch(/^pod\b/)
  })

  test.for([
    ['limit', 'what takes more than its share ends alone, with the reason in words, and leaves nothing', 30],
    ['channel', 'what a run writes to its channel hurts no other run', 14],
    ['before', 'a run finds nothing of the one before, and has nothing of its pod', 1],
  ] as const)('%s: %s', ([kind, , least]) => {
    for (const language of ['javascript', 'python'] as const) {
      const these = tried.filter((each) => each.kind === kind && each.language === language)
      expect(these.length).toBeGreaterThanOrEqual(least)
      expect(these.filter(({ faults }) => faults.length > 0)).toEqual([])
    }
  })

  test('at most the pod of its team ends, by what starts processes without end, and says why', () => {
    const before = ends.map(({ position }, index) => tried[position - index - 1]?.name ?? '')
    console.log(
      ends.map(({ position, end }, index) => `a pod ended after ${before[index]} (${position}): ${end}`).join('\n'),
    )
    for (const { end } of ends) expect(end).toBe('it took more memory than it may')
    expect(ends.length).toBeLessThanOrEqual(4)
  })
})
