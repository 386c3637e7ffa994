import { parentPort } from 'node:worker_threads'
import { hashSync } from 'bcryptjs'

const cost = 10

/** Answers `{ password }` with its bcrypt hash. */
parentPort?.on('message', ({ password }: { password: string }) => {
  try {
    parentPort?.postMessage({ answer: hashSync(password, cost) })
  } catch (error) {
    parentPort?.postMessage({ error: String(error) })
  }
})
parentPort?.postMessage('ready')
