import { afterEach, expect, test } from 'vitest'
import { DeadlineError, DeadlineWorker } from '../src/index.ts'

const source = `
const { parentPort } = require('node:worker_threads')
const wait = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
parentPort.on('message', ({ waitMs = 0, spin = false }) => {
  wait(waitMs)
  while (spin);
  parentPort.postMessage({ answer: 'done' })
})
parentPort.postMessage('ready')`

const file = new URL(
  `data:text/javascript,${encodeURIComponent(`import { createRequire } from 'node:module'
const require = createRequire('file:///')
${source}`)}`,
)

const worker = new DeadlineWorker(file)
afterEach(() => worker.run({}, { deadlineMs: 1000, team: 'a' }))

test('a job that works on and on is stopped, and the next one is answered', async () => {
  await expect(worker.run({ spin: true }, { deadlineMs: 100, team: 'a' })).rejects.toBeInstanceOf(DeadlineError)
  expect(await worker.run({}, { deadlineMs: 100, team: 'a' })).toBe('done')
})

test('a job that only had to wait for its turn is not late', async () => {
  expect(await worker.run({ waitMs: 300 }, { deadlineMs: 100, team: 'a' })).toBe('done')
})

test('a job that waits for ever is stopped too', async () => {
  await expect(worker.run({ waitMs: 60_000 }, { deadlineMs: 50, team: 'a' })).rejects.toBeInstanceOf(DeadlineError)
})

test('teams take turns: what one of them has queued is not waited for by others', async () => {
  const done: string[] = []
  const job = async (team: string) => {
    await worker.run({}, { deadlineMs: 1000, team })
    done.push(team)
  }
  await Promise.all([...Array.from({ length: 20 }, () => job('busy')), job('quiet'), job('third')])
  // The first one was at work when the others came.
  expect(done.slice(0, 4)).toEqual(['busy', 'busy', 'quiet', 'third'])
  expect(done).toHaveLength(22)
})

test('a team that has too much waiting is told so, by number and by size, and others are not', async () => {
  const options = { deadlineMs: 1000, team: 'busy' }
  const many = Array.from({ length: 201 }, () => worker.run({}, options))
  await expect(worker.run({}, options)).rejects.toMatchObject({ kind: 'unavailable', retryAfterS: 1 })
  await worker.run({}, { ...options, team: 'quiet' })
  await Promise.all(many)
  const large = { ...options, bytes: 2 ** 28 }
  const waiting = [worker.run({}, options), worker.run({}, large)]
  await expect(worker.run({}, large)).rejects.toMatchObject({ kind: 'unavailable' })
  await Promise.all(waiting)
})

test.each([
  ['number', {}, 600],
  ['size', { bytes: 2 ** 20 }, 150],
])(
  'what waits of many teams together has a bound by %s, and the first one of a team is taken',
  async (_, size, most) => {
    const job = (team: string) => worker.run({}, { deadlineMs: 1000, team, ...size })
    const teams = Array.from({ length: 20 }, (_unused, n) => `team ${n}`)
    const many = teams.flatMap((team) => Array.from({ length: 200 }, () => job(team)))
    const last = job('last')
    const ends = await Promise.allSettled(many)
    expect(ends.filter(({ status }) => status === 'fulfilled').length).toBeLessThan(most)
    teams.forEach((_unused, n) => expect(ends[200 * n]).toMatchObject({ value: 'done' }))
    expect(await last).toBe('done')
  },
)
