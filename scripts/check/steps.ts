import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { delimiter, join } from 'node:path'

/**
 * What a step found: nothing wrong when `ok`; otherwise `output` says what. `leftOut` says why it could not look, `warning`
 * what to know all the same.
 */
export interface Outcome {
  ok: boolean
  output: string
  leftOut?: string
  warning?: string
}

export interface Step {
  name: string
  /** What to do when it fails. */
  advice: string
  run(): Promise<Outcome>
}

const bin = join(import.meta.dirname, '../../node_modules/.bin')

/** A step that is a program of the project's dependencies. */
export function program(name: string, command: string[], advice: string): Step {
  return { name, advice, run: () => outcomeOf(command) }
}

async function outcomeOf([file = '', ...args]: string[]): Promise<Outcome> {
  const child = spawn(file, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH']}`, FORCE_COLOR: '0' },
  })
  const chunks: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  try {
    const [code] = (await once(child, 'close')) as [number | null]
    return { ok: code === 0, output: Buffer.concat(chunks).toString() }
  } catch (error) {
    return { ok: false, output: `${file} can't be started: ${(error as Error).message}` }
  }
}

/**
 * Runs the steps, a few at a time, and tells of each as it ends. Answers how many passed and failed; those that were left
 * out did neither.
 */
export async function runSteps(steps: Step[], atOnce: number): Promise<{ passed: number; failed: number }> {
  const waiting = [...steps]
  const failed: string[] = []
  let leftOut = 0
  const work = async () => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      const startedAt = performance.now()
      const outcome = await step.run()
      tell(step, outcome, performance.now() - startedAt)
      if (!outcome.ok) failed.push(step.name)
      if (outcome.leftOut !== undefined) leftOut += 1
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return { passed: steps.length - failed.length - leftOut, failed: failed.length }
}

function tell({ name, advice }: Step, { ok, output, leftOut, warning }: Outcome, tookMs: number): void {
  const took = `${(tookMs / 1000).toFixed(1)} s`
  const below = (text: string) => `${text.trimEnd().replaceAll(/^/gm, '      ')}\n      -> ${advice}`
  if (leftOut !== undefined) return console.log(`none  ${name.padEnd(12)} ${leftOut}`)
  if (warning !== undefined) return console.log(`WARN  ${name.padEnd(12)} ${took}\n${below(warning)}`)
  if (ok) return console.log(`ok    ${name.padEnd(12)} ${took}`)
  console.log(`FAIL  ${name.padEnd(12)} ${took}\n${below(output)}`)
}
