import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Lab } from '../lab.ts'
import { surroundings } from '../sides/program.ts'
import type { About } from '../sides/side.ts'
import { peerModule, versionOf } from './install.ts'

const driver = fileURLToPath(new URL('graphile-driver.ts', import.meta.url))

export const graphileAbout: About = {
  software: versionOf('graphile-worker'),
  isolation: "none: tasks run in the worker's own process",
  durability: 'PostgreSQL with fsync; a finished job is deleted, no status and no result is kept',
}

/** Runs the driver on a database of its own and answers what it prints. */
export async function graphile<T>(lab: Lab, args: string[]): Promise<T> {
  const env = {
    ...surroundings(),
    DATABASE_URL: await lab.database(),
    GRAPHILE: peerModule(lab.peers ?? '', 'graphile-worker'),
  }
  const { stdout } = await promisify(execFile)(process.execPath, [driver, ...args], { env, maxBuffer: 1 << 26 })
  return JSON.parse(stdout) as T
}
