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
afterEach(() => worker.run({}, 1000))

test('a job that works on and on is stopped, and the next one is answered', async () => {
  await expect(worker.run({ spin: true }, 100)).rejects.toBeInstanceOf(DeadlineError)
  expect(await worker.run({}, 100)).toBe('done')
})

test('a job that only had to wait for its turn is not late', async () => {
  expect(await worker.run({ waitMs: 300 }, 100)).toBe('done')
})

test('a job that waits for ever is stopped too', async () => {
  await expect(worker.run({ waitMs: 60_000 }, 50)).rejects.toBeInstanceOf(DeadlineError)
})
