import { Failure, invalid, unavailable } from '@automation/errors'
import { DeadlineError, DeadlineWorker } from '@automation/service'
import type { CheckJob } from './check-worker.ts'
import type { LanguageName } from './language.ts'
import { emptyReading, mayMention, type Reading } from './reading/reading.ts'
import type { ReadingJob } from './reading/reading-worker.ts'
import type { SchemaFault } from './schema-check.ts'

// Of the thread's processor time.
const schemaDeadlineMs = 200
const hashDeadlineMs = 3000
const readingDeadlineMs = 5000

/** Work that must not hold up the event loop, nor go on for ever. Sources have a thread of their own, for they take longest. */
export class Checks {
  readonly #checks = new DeadlineWorker(new URL('./check-worker.ts', import.meta.url))
  readonly #readings = new DeadlineWorker(new URL('./reading/reading-worker.ts', import.meta.url))

  /** The bcrypt hash of a password, of cost 10. */
  async hashPassword(password: string): Promise<string> {
    const job: CheckJob = { hash: password }
    const hash = await orFailure(this.#checks.run(job, hashDeadlineMs), (error) =>
      unavailable('The password could not be hashed, try again', error),
    )
    return hash as string
  }

  /** Fails with the place of the fault below `/parametersSchema` when a text is no JSON Schema; null is none at all. */
  async checkSchema(schema: string | null | undefined): Promise<void> {
    if (schema === null || schema === undefined) return
    const job: CheckJob = { schema }
    const fault = await orFailure(this.#checks.run(job, schemaDeadlineMs), (error) => {
      const isLate = error instanceof DeadlineError
      const text = isLate ? 'is too complex: checking it takes too long' : 'is too complex to be checked'
      return invalid('/parametersSchema', text)
    })
    if (fault === undefined) return
    const { path, message } = fault as SchemaFault
    throw invalid(`/parametersSchema${path}`, message)
  }

  /** What a source says of modules and packages. Fails with invalid `/sourceCode` where that takes too long or too much. */
  async read(language: LanguageName, source: string): Promise<Reading> {
    if (!mayMention(source)) return emptyReading
    const job: ReadingJob = { language, source }
    const reading = await orFailure(this.#readings.run(job, readingDeadlineMs), () =>
      invalid('/sourceCode', 'is too complex: what it imports can not be found in time'),
    )
    return reading as Reading
  }

  async close(): Promise<void> {
    await Promise.all([this.#checks.close(), this.#readings.close()])
  }
}

/** The answer, or a Failure: the thread's own, or what is made of an error. */
async function orFailure(answer: Promise<unknown>, failure: (error: unknown) => Failure): Promise<unknown> {
  try {
    return await answer
  } catch (error) {
    throw error instanceof Failure ? error : failure(error)
  }
}
