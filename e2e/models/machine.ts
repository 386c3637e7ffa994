import * as fc from 'fast-check'
import type { TracedClient } from './trace.ts'

/** The least that a run has of the real system. */
export interface Real {
  client: TracedClient
}

/** A thing of the interface that has states: what can be done with it, and what a model says of the answers. */
export interface Machine<Model extends object, On extends Real> {
  name: string
  /** The longest sequence of steps. */
  maxSteps: number
  /** How many sequences the fixed run of CI tries. */
  runs: number
  steps: fc.Arbitrary<fc.AsyncCommand<Model, On>>[]
  /** A new thing, of which the model knows all. */
  begin(client: TracedClient): Promise<{ model: Model; real: On }>
  /** What must be true in the end; leaves nothing behind. */
  end(model: Model, real: On): Promise<void>
}

export interface Step<Model, On> {
  /** Whether it makes sense in this state; always where it is absent. */
  may?(model: Model): boolean
  /** Does it and compares; throws where model and system differ. */
  run(model: Model, real: On): Promise<void>
}

/** Steps of one kind, with what each is given. */
export function steps<Model extends object, On extends Real, Input>(
  name: string,
  inputs: fc.Arbitrary<Input>,
  stepOf: (input: Input) => Step<Model, On>,
): fc.Arbitrary<fc.AsyncCommand<Model, On>> {
  return inputs.map((input) => {
    const { may, run } = stepOf(input)
    const words = input === undefined ? name : `${name} ${JSON.stringify(input)}`
    return {
      check: (model) => may?.(model) ?? true,
      run: async (model, real) => {
        real.client.trace.note(words)
        await run(model, real)
      },
      toString: () => words,
    }
  })
}

/** Steps that are given nothing. */
export function plainSteps<Model extends object, On extends Real>(
  name: string,
  step: Step<Model, On>,
): fc.Arbitrary<fc.AsyncCommand<Model, On>> {
  return steps(name, fc.constant(undefined), () => step)
}

/** One of what there is, by a number that is as large as it likes. */
export function nth<T>(list: readonly T[], n: number): T {
  const found = list[n % list.length]
  if (found === undefined) throw new RangeError('There is nothing to pick from')
  return found
}
