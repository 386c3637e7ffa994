import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'

export interface Program {
  pid: number
  stop(): Promise<void>
}

interface Start {
  file: string
  args: string[]
  env?: Record<string, string>
  cwd?: string
  /** Resolves when the program takes work; called again and again until it answers true. */
  ready(): Promise<boolean>
}

const readyWithinMs = 60_000
const stopWithinMs = 15_000

/** Starts a program and waits until it is ready. Its last words are in the error when it ends before that. */
export async function startProgram({ file, args, env, cwd, ready }: Start): Promise<Program> {
  const child = spawn(file, args, { env: { ...surroundings(), ...env }, cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  const words = lastWords(child)
  const started = new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`${file} ${args.join(' ')} ended with ${code}:\n${words()}`)))
    untilTrue(ready, () => new Error(`${file} ${args.join(' ')} is not ready after 60 s:\n${words()}`)).then(
      resolve,
      reject,
    )
  })
  const running = { pid: child.pid ?? 0, stop: () => stop(child) }
  try {
    await started
  } catch (error) {
    await running.stop()
    throw error
  }
  return running
}

/** What every side gets of our environment: nothing that could be one of its settings. */
export function surroundings(): Record<string, string> {
  const names = ['PATH', 'HOME', 'TMPDIR', 'LANG']
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])))
}

/** Whether an address answers with success. */
export async function answers(url: string): Promise<boolean> {
  try {
    const answer = await fetch(url)
    await answer.body?.cancel()
    return answer.ok
  } catch {
    return false // nobody listens yet
  }
}

/** Asks every 20 ms until the answer is true. */
export async function untilTrue(
  ask: () => Promise<boolean>,
  tooLate: () => Error,
  withinMs = readyWithinMs,
): Promise<void> {
  const until = performance.now() + withinMs
  while (!(await ask())) {
    if (performance.now() > until) throw tooLate()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

function lastWords(child: ChildProcess): () => string {
  let words = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (words = (words + chunk.toString()).slice(-4000)))
  return () => words
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  const hard = setTimeout(() => child.kill('SIGKILL'), stopWithinMs)
  await gone
  clearTimeout(hard)
}
