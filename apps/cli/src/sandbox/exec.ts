import { constants } from 'node:os'
import type { Client } from '@automation/client'
import { ExitError } from '../exit.ts'
import { linesOf } from '../lines.ts'

/** A command in a sandbox. */
interface SandboxCommand {
  command: string
  args: string[]
  cwd?: string
  env?: Record<string, string>
  stdin?: string
  timeoutMs?: number
}

type Line =
  | { type: 'stdout' | 'stderr'; data: string }
  | { type: 'lost'; bytes: number }
  | { type: 'exit'; code: number; signal?: string; timedOut?: boolean }
  | { type: 'error'; code: string; message: string }

/** What `exec` ends with where it is not the command that failed, as containers' tools do. */
export const ownFailure = 125

/** Runs a command and gives what it ended with; its output goes to `write` as it comes. */
export async function exec(
  client: Client,
  id: string,
  command: SandboxCommand,
  write: (stream: 'stdout' | 'stderr', data: string) => void,
): Promise<{ code: number; signal?: string; timedOut?: boolean }> {
  const path = `/sandboxes/${encodeURIComponent(id)}/commands`
  const response = await client.open('POST', path, { body: command, accept: 'application/x-ndjson' })
  for await (const line of wholeLines(response.body!)) {
    if (line.type === 'exit') return line
    if (line.type === 'error') throw new ExitError(ownFailure, line.message, { reason: line.code })
    // Bytes that are not kept: there is nothing to write.
    if (line.type === 'lost') continue
    if (line.data !== '') write(line.type, line.data)
  }
  throw new ExitError(ownFailure, 'The connection to the command was cut, and the command ended with it.', {
    reason: 'cut',
  })
}

/** What has come whole, until the end or a cut. */
async function* wholeLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  try {
    for await (const text of linesOf(source)) if (text !== '') yield JSON.parse(text) as Line
  } catch {
    // What it ended with has not come, and the reader says so.
  }
}

/** The exit code of a shell for what a command ended with. */
export function exitCodeOf({ code, signal, timedOut }: { code: number; signal?: string; timedOut?: boolean }): number {
  if (timedOut) return 124
  if (signal === undefined || signal === '') return code
  const numbers: Readonly<Record<string, number>> = constants.signals
  return 128 + (numbers[signal.startsWith('SIG') ? signal : `SIG${signal}`] ?? 0)
}
