import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpus } from 'node:os'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { LoadResult, Pattern, RequestSpec } from './spec.ts'

const generator = fileURLToPath(new URL('main.ts', import.meta.url))

/** Runs the load generator, pinned to the last processor where the machine has `taskset`. Throws on a wrong answer. */
export async function load(request: RequestSpec, pattern: Pattern): Promise<LoadResult> {
  const command = [...pin(), process.execPath, generator]
  const child = spawn(command[0] ?? '', command.slice(1), { stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.end(JSON.stringify({ request, pattern }))
  const [output, faults] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  if (output === '') throw new Error(`the load generator failed: ${faults.trim()}`)
  return JSON.parse(output) as LoadResult
}

/** How the load generator is pinned, in words. */
export function pinning(): string {
  const command = pin()
  return command.length === 0 ? 'load generator not pinned (no taskset)' : `load generator: ${command.join(' ')}`
}

function pin(): string[] {
  const last = cpus().length - 1
  return last > 0 && taskset ? ['taskset', '-c', String(last)] : []
}

const taskset = spawnSync('taskset', ['--version']).status === 0
