import type { V1ContainerState, V1Pod } from '@kubernetes/client-node'
import { expect, test } from 'vitest'
import { podSeen } from '../src/cluster/pod-seen.ts'
import { KnownPods } from '../src/runner-pods/known-pods.ts'
import { longerPause, noPause, pauseText } from '../src/runner-pods/pause.ts'
import { startingRunners } from '../src/runner-pods/starting.ts'

const madeAt = (second: number) => new Date(Date.UTC(2026, 10, 27, 12, 0, second))

/** A pod as the API of a cluster has it. */
function pod(name: string, second: number, status: V1Pod['status'], deletionTimestamp?: Date): V1Pod {
  return { metadata: { name, uid: `uid-of-${name}`, creationTimestamp: madeAt(second), deletionTimestamp }, status }
}

const inState = (state: V1ContainerState, phase = 'Pending'): V1Pod['status'] => ({
  phase,
  containerStatuses: [{ name: 'runner', image: 'runner:1', imageID: '', ready: false, restartCount: 0, state }],
})

const told = (pods: V1Pod[], connected: string[] = []) => {
  const sessions = connected.map((runnerName) => ({ runnerName, team: '', slots: 4, running: 0, idleMs: 0n }))
  return startingRunners(new KnownPods('').together(pods.map(podSeen), sessions as never, 0))
}

test('pods whose runner has not come are told with what the cluster says of them, those that were made first', () => {
  const message = '0/3 nodes are available: 3 Insufficient cpu.\n  preemption: none'
  const unscheduled = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }
  const pulled = { waiting: { reason: 'ErrImagePull', message: 'no such host' } }
  const backOff = { waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image "runner:1"' } }
  const crashed = { terminated: { exitCode: 1, reason: 'Error', message: 'RUNNER_KEY must be set' } }
  const found = told(
    [
      pod('connected', 1, { phase: 'Running' }),
      pod('running', 7, { phase: 'Running', podIP: '10.0.0.1' }),
      pod('leaving', 2, { phase: 'Pending' }, madeAt(9)),
      pod('crash', 6, inState(crashed, 'Failed')),
      pod('unschedulable', 3, { phase: 'Pending', conditions: [unscheduled] }),
      pod('back-off', 5, inState(backOff)),
      pod('pull', 4, inState(pulled)),
    ],
    ['connected.uid-of-connected'],
  )
  expect(found.map(({ runnerName, why }) => [runnerName, why])).toEqual([
    [
      'unschedulable.uid-of-unschedulable',
      'Unschedulable: 0/3 nodes are available: 3 Insufficient cpu. preemption: none',
    ],
    ['pull.uid-of-pull', 'ErrImagePull: no such host'],
    [
      'back-off.uid-of-back-off',
      `the image runner:1 can't be had (ImagePullBackOff): Back-off pulling image "runner:1"`,
    ],
    ['crash.uid-of-crash', 'exit 1; RUNNER_KEY must be set'],
    ['running.uid-of-running', 'its container runs, and its runner has not come to execution yet'],
  ])
  // One whose runner has gone again is none that starts.
  const known = new KnownPods('')
  const sessions = [{ runnerName: 'lost.uid-of-lost', team: '', slots: 4, running: 0, idleMs: 0n }]
  known.together([podSeen(pod('lost', 1, { phase: 'Running' }))], sessions as never, 0)
  expect(startingRunners(known.together([podSeen(pod('lost', 1, { phase: 'Running' }))], [], 1))).toEqual([])
  expect(found[0]!.madeAt).toMatchObject({ seconds: BigInt(madeAt(3).getTime() / 1000) })
})

test('of a whole pool that does not start no more is told than a message bears', () => {
  const message = 'x'.repeat(10_000)
  const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }]
  const pods = Array.from({ length: 1000 }, (_, second) => pod(`p${second}`, second, { conditions }))
  const found = told(pods)
  expect(JSON.stringify(found.map(({ runnerName, why }) => [runnerName, why])).length).toBeLessThan(10_000)
  expect(found[0]!.runnerName).toBe('p0.uid-of-p0')
})

test('while pods do not start an operator is told what the last one said, and when the next is made', () => {
  const twice = longerPause(longerPause(noPause, 'no image', 0), 'no image', 2000)
  expect(pauseText(noPause, 0)).toBe('')
  expect(pauseText(twice, 2500)).toBe('2 in a row did not start: no image; the next is made in 4 s')
  expect(pauseText(twice, 7000)).toBe('2 in a row did not start: no image')
})
