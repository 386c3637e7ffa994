import { createHash } from 'node:crypto'
import { Failure, type FieldFault } from '@automation/errors'
import { DeadlineError, DeadlineWorker } from '@automation/service'
import { textOf } from './stored-text.ts'

const deadlineMs = 200

/** Checks parameters against users' JSON Schemas, in a thread of its own: a schema may be slow on purpose. */
export class ParametersCheck {
  readonly #worker = new DeadlineWorker(new URL('./workers/schema-thread.ts', import.meta.url))
  #last: { schema: string; digest: string } = { schema: '', digest: '' }

  /** Failure invalid_argument invalid_parameters; the paths of its fields are pointers into the parameters. */
  async check(schema: string, parameters: Uint8Array): Promise<void> {
    if (this.#last.schema !== schema)
      this.#last = { schema, digest: createHash('sha256').update(schema).digest('base64url') }
    const { digest } = this.#last
    const faults = await this.#faults({ digest, schema, parameters: textOf(parameters) })
    if (faults.length === 0) return
    const [{ path, message }] = faults as [FieldFault]
    const text = `The parameters do not match the schema of the process: ${path || 'they'} ${message}`
    throw new Failure('invalid_argument', 'invalid_parameters', text, { fields: faults })
  }

  close(): Promise<void> {
    return this.#worker.close()
  }

  async #faults(input: unknown): Promise<FieldFault[]> {
    try {
      return (await this.#worker.run(input, deadlineMs)) as FieldFault[]
    } catch (error) {
      if (error instanceof Failure) throw error
      const text =
        error instanceof DeadlineError
          ? `The parameters could not be checked against the schema within ${deadlineMs} ms`
          : 'The schema of the process can not be applied'
      throw new Failure('invalid_argument', 'invalid_parameters', text, {
        cause: error,
        fields: [{ path: '', message: text }],
      })
    }
  }
}
