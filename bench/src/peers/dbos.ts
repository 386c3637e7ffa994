import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Lab } from '../lab.ts'
import { answers, startProgram, surroundings } from '../sides/program.ts'
import type { About } from '../sides/side.ts'
import { peerModule, versionOf } from './install.ts'

const program = fileURLToPath(new URL('dbos-program.ts', import.meta.url))

export const dbosAbout: About = {
  software: `${versionOf('@dbos-inc/dbos-sdk')}, a workflow behind node:http`,
  isolation: "none: the user's code runs in the user's own server process",
  durability: 'PostgreSQL with fsync; status, input and output of each workflow kept',
}

async function environment(lab: Lab): Promise<Record<string, string>> {
  return { DATABASE_URL: await lab.database(), DBOS: peerModule(lab.peers ?? '', '@dbos-inc/dbos-sdk') }
}

/** The no-op behind HTTP on a database of its own. */
export async function openDbos(lab: Lab): Promise<{ noop: string; close(): Promise<void> }> {
  const [port, env] = await Promise.all([lab.port(), environment(lab)])
  const url = `http://127.0.0.1:${port}`
  const { stop } = await startProgram({
    file: process.execPath,
    args: [program],
    env: { ...env, PORT: String(port) },
    ready: () => answers(url),
  })
  return { noop: url, close: stop }
}

/** The seconds that so many queued no-ops took, on a database of its own. */
export async function drainDbos(lab: Lab, count: number): Promise<number> {
  const options = { env: { ...surroundings(), ...(await environment(lab)) }, maxBuffer: 1 << 26 }
  const { stdout } = await promisify(execFile)(process.execPath, [program, 'drain', String(count)], options)
  return (JSON.parse(stdout.slice(stdout.lastIndexOf('{'))) as { seconds: number }).seconds
}
