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
/** For one language. */
const mostPods = 4
const languages = ['javascript', 'python'] as const

describe.skipIf(!isHere)(isHere ? title : `${title} (not here: ${missing} not set)`, () => {
  let cluster: ClusterUnderTest
  const isolations: string[] = []
  const tried: Tried[] = []
  /** How pods ended before all was tried, and what was tried last. */
  const ends: { last: string; end: string }[] = []

  beforeAll(async () => {
    cluster = await ClusterUnderTest.open('runner-limits')
    await preparePods(cluster)
    await Promise.all(languages.map(tryAll))
  }, 1_800_000)

  /** A pod that one of the attacks ended is followed by another, for those behind it. */
  async function tryAll(language: Tried['language']): Promise<void> {
    let position = 0
    for (let pods = 0; pods < mostPods; pods += 1) {
      const program = `limits/pod-limits.ts ${language} ${position}`
      const { lines, end } = await linesOfPod(cluster, { image: image!, program, timeoutMs: 900_000 })
      const parsed = lines
        .filter((line) => /^{"(isolation|kind)":/.test(line))
        .map((line) => JSON.parse(line) as object)
      const [first, ...results] = parsed as [{ isolation: string; count: number }, ...Tried[]]
      isolations.push(first.isolation)
      tried.push(...results)
      position += results.length
      if (position === first.count) return
      ends.push({ last: results.at(-1)?.name ?? '', end })
      position += 1
    }
  }
  afterAll(() => cluster.close())

  test('the isolation level is that of pods', () => {
    expect(isolations.length).toBeGreaterThan(0)
    for (const isolation of isolations) expect(isolation).toMatch(/^pod\b/)
  })

  test.for([
    ['limit', 'what takes more than its share ends alone, with the reason in words, and leaves nothing', 30],
    ['channel', 'what a run writes to its channel hurts no other run', 14],
    ['before', 'a run finds nothing of the one before, and has nothing of its pod', 1],
  ] as const)('%s: %s', ([kind, , least]) => {
    for (const language of languages) {
      const these = tried.filter((each) => each.kind === kind && each.language === language)
      expect(these.length).toBeGreaterThanOrEqual(least)
      expect(these.filter(({ faults }) => faults.length > 0)).toEqual([])
    }
  })

  test('at most the pod of its team ends, by what starts processes without end, and says why', () => {
    console.log(ends.map(({ last, end }) => `a pod ended after ${last}: ${end}`).join('\n'))
    for (const { end } of ends) expect(end).toBe('it took more memory than it may')
    expect(ends.length).toBeLessThanOrEqual(4)
  })
})
