import { Failure, invalid, unavailable, type FieldFault } from '@automation/errors'
import { Faults } from '@automation/errors/faults'
import { findInterpreter } from '@automation/jail'
import { DeadlineError, DeadlineWorker } from '@automation/service'
import type { CheckJob } from './check-thread.ts'
import type { LanguageName } from '../fields/language.ts'
import { schemaText } from '../processes/process-values.ts'
import { emptyReading, mayMention, type Reading } from '../reading/reading.ts'
import type { PythonProgram } from '../reading/python-fault.ts'
import type { ReadingJob } from '../reading/reading-thread.ts'

// Of the thread's processor time.
const schemaDeadlineMs = 200
const hashDeadlineMs = 3000
const readingDeadlineMs = 5000

/** Larger sources take a thread of their own, where one of them may take seconds. */
const quickSourceLength = 128 * 1024

/**
 * Work that must not hold up the event loop, nor go on for ever; teams take turns at it. Sources have threads of their own,
 * large and small ones apart, for they take longest. All of it fails with unavailable where too much of a team waits.
 */
export class Checks {
  readonly #python: PythonProgram
  #interpreter: Promise<PythonProgram> | undefined
  readonly #checks = new DeadlineWorker(new URL('./check-thread.ts', import.meta.url))
  readonly #readings = new DeadlineWorker(new URL('../reading/reading-thread.ts', import.meta.url))
  readonly #largeReadings = new DeadlineWorker(new URL('../reading/reading-thread.ts', import.meta.url))

  constructor(python: PythonProgram) {
    this.#python = python
  }

  /** The bcrypt hash of a password, of cost 10. */
  async hashPassword(team: string, password: string): Promise<string> {
    const job: CheckJob = { hash: password }
    const hash = await orFailure(this.#checks.run(job, { deadlineMs: hashDeadlineMs, team }), (error) =>
      unavailable('The password could not be hashed, try again', error),
    )
    return hash as string
  }

  /** Fails with the places of all faults below `/parametersSchema` when a text is no JSON Schema; null is none at all. */
  async checkSchema(team: string, schema: string | null | undefined): Promise<void> {
    if (schema === null || schema === undefined) return
    const job: CheckJob = { schema }
    const options = { deadlineMs: schemaDeadlineMs, team, bytes: schema.length }
    const found = await orFailure(this.#checks.run(job, options), (error) => {
      const isLate = error instanceof DeadlineError
      const text = isLate ? 'is too complex: checking it takes too long' : 'is too complex to be checked'
      return invalid('/parametersSchema', text)
    })
    const faults = new Faults()
    for (const { path, message } of found as FieldFault[]) faults.add(`/parametersSchema${path}`, message)
    faults.check()
  }

  /** What `read` makes of values with this schema. Fails with the places of all faults that `read` and `checkSchema` find. */
  async withSchema<T>(team: string, schema: string | undefined, read: () => T): Promise<T> {
    const faults = new Faults()
    const made = faults.of(read)
    // Of a text that is refused as it is, `read` tells.
    const checkable = new Faults().of(() => schemaText(schema))
    await faults.ofWork(this.checkSchema(team, checkable))
    faults.check()
    return made as T
  }

  /**
   * What a source says of modules and packages, and its fault. Fails with invalid `/sourceCode` where that takes too long or too much,
   * and it may say something; for its fault alone nothing fails.
   */
  async read(team: string, language: LanguageName, source: string): Promise<Reading> {
    if (!mayMention(source)) return this.readKept(team, language, source)
    const reading = await orFailure(this.#reading(team, language, source), () =>
      invalid('/sourceCode', 'is too complex: what it imports can not be found in time'),
    )
    return reading as Reading
  }

  /** The same of a source that is kept already, whatever it is: one that can't be read says nothing. */
  async readKept(team: string, language: LanguageName, source: string): Promise<Reading> {
    return source.trim() === '' ? emptyReading : this.#reading(team, language, source).catch(() => emptyReading)
  }

  /** The same for who asks for its fault: fails with invalid `/sourceCode`, too, where that can't be found. */
  async check(team: string, language: LanguageName, source: string): Promise<Reading> {
    if (source.trim() === '') return emptyReading
    const failure = () => invalid('/sourceCode', 'is too large or too complex to be checked')
    const reading = (await orFailure(this.#reading(team, language, source), failure)) as Reading
    if (reading.isUnchecked === true) throw failure()
    return reading
  }

  async #reading(team: string, language: LanguageName, source: string): Promise<Reading> {
    const python = language === 'PYTHON' ? await this.#foundPython() : this.#python
    const job: ReadingJob = { language, source, python }
    const readings = source.length > quickSourceLength ? this.#largeReadings : this.#readings
    const options = { deadlineMs: readingDeadlineMs, team, bytes: source.length }
    return readings.run(job, options) as Promise<Reading>
  }

  /** The interpreter itself, or what is configured where it can't be found: each reading says then that it is unknown. */
  #foundPython(): Promise<PythonProgram> {
    const { program, path } = this.#python
    this.#interpreter ??= findInterpreter(program).then(
      (interpreter) => ({ program: interpreter.path, path }),
      () => this.#python,
    )
    return this.#interpreter
  }

  async close(): Promise<void> {
    await Promise.all([this.#checks, this.#readings, this.#largeReadings].map((worker) => worker.close()))
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
