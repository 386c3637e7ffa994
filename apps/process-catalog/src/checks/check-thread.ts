import { parentPort } from 'node:worker_threads'
import type { FieldFault } from '@automation/errors'
import { hashSync } from 'bcryptjs'
import { faultsOfSchema } from './schema-check.ts'

/** One piece of work for the thread: hash a password, or look at a schema. */
export type CheckJob = { hash: string } | { schema: string }

const bcryptCost = 10

parentPort?.on('message', (job: CheckJob) => parentPort?.postMessage(done(job)))

// Both validators are made once, before the clock of the first job starts.
faultsOfSchema('{"$ref":"#"}')
faultsOfSchema('{"$schema":"http://json-schema.org/draft-07/schema#"}')
parentPort?.postMessage('ready')

function done(job: CheckJob): { answer: string | FieldFault[] } | { error: string } {
  try {
    return { answer: 'hash' in job ? hashSync(job.hash, bcryptCost) : faultsOfSchema(job.schema) }
  } catch (error) {
    return { error: String(error) }
  }
}
