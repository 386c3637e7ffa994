import * as fc from 'fast-check'
import type { Address } from '../client/client.ts'
import type { Machine, Real } from './machine.ts'
import { Trace, TracedClient } from './trace.ts'

/** Which sequences are tried: so many, or those of so many seconds; or one of a former run, by its path. */
export interface Extent {
  seed: number
  runs: number | undefined
  seconds: number | undefined
  path: string | undefined
  replay: string | undefined
}

export interface Finding {
  machine: string
  sequences: number
  steps: number
  seconds: number
  /** What went wrong, by which steps, and how to see it again; undefined where all agreed. */
  failure: string | undefined
}

/** How many sequences share a seed, where there is no end but time. */
const runsOfSeed = 4

/** Tries a machine against its model: sequences of steps, shortened where one fails. */
export async function explore<Model extends object, On extends Real>(
  machine: Machine<Model, On>,
  address: Address,
  extent: Extent,
): Promise<Finding> {
  const began = performance.now()
  const finding: Finding = { machine: machine.name, sequences: 0, steps: 0, seconds: 0, failure: undefined }
  const isOver = () => finding.failure !== undefined || performance.now() - began > (extent.seconds ?? 0) * 1000
  let seed = extent.seed
  do {
    const numRuns = extent.seconds === undefined ? (extent.runs ?? machine.runs) : runsOfSeed
    finding.failure = await exploreSeed(machine, address, { ...extent, seed }, numRuns, finding)
    seed += 1
  } while (!isOver())
  finding.seconds = (performance.now() - began) / 1000
  return finding
}

async function exploreSeed<Model extends object, On extends Real>(
  machine: Machine<Model, On>,
  address: Address,
  { seed, path, replay }: Extent,
  numRuns: number,
  finding: Finding,
): Promise<string | undefined> {
  let failed: Trace | undefined
  const sequences = fc.commands(machine.steps, { maxCommands: machine.maxSteps, replayPath: replay })
  const property = fc.asyncProperty(sequences, async (commands) => {
    const trace = new Trace()
    const { model, real } = await machine.begin(new TracedClient(address, trace))
    finding.sequences += 1
    try {
      await runAndEnd(machine, model, real, commands)
    } catch (error) {
      failed = trace
      throw error
    } finally {
      finding.steps += trace.steps
    }
  })
  const found = await fc.check(property, { seed, path, numRuns, endOnFailure: replay !== undefined })
  if (!found.failed) return undefined
  const { counterexample, counterexamplePath, errorInstance } = found
  const again = /replayPath="([^"]*)"/.exec(fc.stringify(counterexample))?.[1] ?? ''
  return [
    errorInstance instanceof Error ? errorInstance.message : String(errorInstance),
    `after ${found.numShrinks} shortenings:`,
    String(failed ?? ''),
    `again: npm run test:models -- --machine ${machine.name} --seed ${seed} --path ${counterexamplePath} --replay ${again}`,
  ].join('\n')
}

/** The machine's end comes in any case; what it finds counts where the steps have found nothing. */
async function runAndEnd<Model extends object, On extends Real>(
  machine: Machine<Model, On>,
  model: Model,
  real: On,
  commands: Iterable<fc.AsyncCommand<Model, On>>,
): Promise<void> {
  const tried = await faultOf(fc.asyncModelRun(() => ({ model, real }), commands))
  real.client.trace.note('the end')
  const ended = await faultOf(machine.end(model, real))
  const fault = tried ?? ended
  if (fault !== undefined) throw fault
}

async function faultOf(work: Promise<void>): Promise<Error | undefined> {
  return work.then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  )
}
