import { parentPort } from 'node:worker_threads'
import { hashSync } from 'bcryptjs'
import { importsOf } from './imports/imports.ts'
import type { LanguageName } from './language.ts'
import { schemaFault, type SchemaFault } from './schema-check.ts'

/** One piece of work for the thread: hash a password, look at a schema, or find what a source imports. */
export type CheckJob = { hash: string } | { schema: string } | { source: string; language: LanguageName }

/** What comes back: the hash, the schema's fault where it has one, or the imports. */
export type CheckResult =
  | { hash: string }
  | { fault: SchemaFault | undefined }
  | { imports: string[] }
  | { error: string }

const bcryptCost = 10

parentPort?.on('message', (job: CheckJob) => parentPort?.postMessage(done(job)))

// Both validators are made once, before the clock of the first job starts.
schemaFault('{"$ref":"#"}')
schemaFault('{"$schema":"http://json-schema.org/draft-07/schema#"}')
parentPort?.postMessage('ready')

function done(job: CheckJob): CheckResult {
  try {
    if ('hash' in job) return { hash: hashSync(job.hash, bcryptCost) }
    if ('source' in job) return { imports: importsOf(job.language, job.source) }
    return { fault: schemaFault(job.schema) }
  } catch (error) {
    return { error: String(error) }
  }
}
