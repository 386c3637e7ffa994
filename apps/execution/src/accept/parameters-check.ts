import { createHash } from 'node:crypto'
import type { RunSpec } from '@automation/contract/catalog/v1/resolve'
import { Failure, type FieldFault } from '@automation/errors'
import { DeadlineError, DeadlineWorker } from '@automation/service'
import { textOf } from '../store/stored-text.ts'
import type { StartRequest } from './start-request.ts'

const deadlineMs = 200

interface How {
  areTexts: boolean
  isEnforced: boolean
}

interface Answer {
  faults: FieldFault[]
  /** JSON text, where texts have got other types. */
  typed?: string
}

/** Checks parameters against users' JSON Schemas, in a thread of its own, teams in turn: a schema may be slow on purpose. */
export class ParametersCheck {
  readonly #worker = new DeadlineWorker(new URL('./schema-thread.ts', import.meta.url))
  #last: { schema: string; digest: string } = { schema: '', digest: '' }

  /** Failure invalid_argument invalid_parameters; the paths of its fields are pointers into the parameters. */
  async check(team: string, schema: string, parameters: Uint8Array): Promise<void> {
    await this.#ask(team, schema, parameters, { areTexts: false, isEnforced: true })
  }

  /**
   * The parameters of a run, checked where the schema is enforced or its request wants it. Where they came as texts, they
   * have the types that the schema names, enforced or not; without a schema they stay as they are, and where nobody asked
   * for a check also when the schema can't be applied now.
   */
  async forRun(
    spec: RunSpec,
    parameters: Uint8Array,
    { hasTexts = false, checksParameters = false }: Pick<StartRequest, 'hasTexts' | 'checksParameters'> = {},
  ): Promise<Uint8Array> {
    const { team, enforcedSchema, unenforcedSchema } = spec
    const isEnforced = enforcedSchema !== undefined || checksParameters
    const schema = enforcedSchema ?? (hasTexts || checksParameters ? unenforcedSchema : undefined)
    if (schema === undefined) return parameters
    try {
      const { typed } = await this.#ask(team, schema, parameters, { areTexts: hasTexts, isEnforced })
      return typed === undefined ? parameters : Buffer.from(typed)
    } catch (error) {
      if (isEnforced) throw error
      return parameters
    }
  }

  close(): Promise<void> {
    return this.#worker.close()
  }

  async #ask(team: string, schema: string, parameters: Uint8Array, how: How): Promise<Answer> {
    if (this.#last.schema !== schema)
      this.#last = { schema, digest: createHash('sha256').update(schema).digest('base64url') }
    const { digest } = this.#last
    const answer = await this.#answer(team, { digest, schema, parameters: textOf(parameters), ...how })
    if (answer.faults.length === 0) return answer
    const [{ path, message }] = answer.faults as [FieldFault]
    const text = `The parameters do not match the schema of the process: ${path || 'they'} ${message}`
    throw new Failure('invalid_argument', 'invalid_parameters', text, { fields: answer.faults })
  }

  async #answer(team: string, input: How & { digest: string; schema: string; parameters: string }): Promise<Answer> {
    try {
      return (await this.#worker.run(input, { deadlineMs, team, bytes: input.parameters.length })) as Answer
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
