import { execFile, type ExecFileOptions } from 'node:child_process'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** What a program has written to standard output. Rejects with the last lines that it has written to standard error. */
export async function run(file: string, args: string[], options: ExecFileOptions = {}): Promise<string> {
  try {
    const { stdout } = await execute(file, args, { maxBuffer: 256 << 20, ...options, encoding: 'utf8' })
    return stdout
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string }
    throw new Error(stderr.trim().split('\n').slice(-5).join('\n') || message, { cause: error })
  }
}
