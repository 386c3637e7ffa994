import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { repositoryRoot } from './system.ts'
import { waitUntil } from './wait-until.ts'

/** Starts the program of a service, which adds to this log. */
export function startService(
  service: string,
  { args = [], env, log }: { args?: string[]; env: Record<string, string>; log: string },
): ChildProcess {
  const file = openSync(log, 'a')
  const program = [`apps/${service}/src/main.ts`, ...args]
  const child = spawn(process.execPath, program, { cwd: repositoryRoot, env, stdio: ['ignore', file, file] })
  closeSync(file)
  return child
}

/** Resolves when what listens at `host:port` for health says that it is ready. */
export async function serviceReady(name: string, address: string): Promise<void> {
  const ready = () =>
    fetch(`http://${address}/readyz`).then(
      async (answer) => (await answer.arrayBuffer(), answer.ok),
      () => false, // nobody listens yet
    )
  await waitUntil(name, ready, { timeoutMs: 120_000, everyMs: 50 })
}
