import { spawn } from 'node:child_process'
import { once } from 'node:events'

export interface Ran {
  code: number | null
  stdout: string
  stderr: string
}

/** Runs a program to its end; `input` goes to its standard input. */
export async function run(file: string, args: string[], input?: string): Promise<Ran> {
  const child = spawn(file, args, { stdio: 'pipe' })
  const ran = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (ran.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (ran.stderr += text))
  child.stdin.end(input ?? '')
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, ...ran }
}

/** The same, throwing with its words when it fails. Gives its standard output. */
export async function must(file: string, args: string[], input?: string): Promise<string> {
  const { code, stdout, stderr } = await run(file, args, input)
  if (code !== 0) throw new Error(`${file} ${args.slice(0, 4).join(' ')} … ended with ${code}: ${stderr || stdout}`)
  return stdout
}

/** One line for whoever waits. */
export function say(text: string): void {
  console.log(`${new Date().toISOString().slice(11, 19)} ${text}`)
}
