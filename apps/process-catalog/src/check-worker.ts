import { parentPort } from 'node:worker_threads'
import { hashSync } from 'bcryptjs'
import { schemaFault, type SchemaFault } from './schema-check.ts'

/** One piece of work for the thread: hash a password, or look at a schema. */
export type CheckJob = { hash: string } | { schema: string }

/** What comes back: the hash, or the schema's fault where it has one. */
export type CheckResult = { hash: string } | { fault: SchemaFault | undefined } | { error: string }

const bcryptCost = 10

parentPort?.on('message', (job: CheckJob) => parentPort?.postMessage(done(job)))

// Both validators are made once, before the clock of the first job starts.
schemaFault('{"$ref":"#"}')
schemaFault('{"$schema":"http://json-schema.org/draft-07/schema#"}')
parentPort?.postMessage('ready')

function done(job: CheckJob): CheckResult {
  try {
    if ('hash' in job) return { hash: hashSync(job.hash, bcryptCost) }
    return { fault: schemaFault(job.schema) }
  } catch (error) {
    return { error: String(error) }
  }
}
