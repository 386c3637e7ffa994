import { parentPort } from 'node:worker_threads'
import { matches } from './hashes.ts'

/** Answers `{ password, hash }` with whether they belong together. */
parentPort?.on('message', ({ password, hash }: { password: string; hash: string }) => {
  try {
    parentPort?.postMessage({ answer: matches(password, hash) })
  } catch (error) {
    parentPort?.postMessage({ error: String(error) })
  }
})
parentPort?.postMessage('ready')
