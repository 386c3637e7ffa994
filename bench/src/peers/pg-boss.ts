import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Lab } from '../lab.ts'
import { surroundings } from '../sides/program.ts'
import type { About } from '../sides/side.ts'
import { peerModule, versionOf } from './install.ts'

const driver = fileURLToPath(new URL('pg-boss-driver.ts', import.meta.url))

export const pgBossAbout: About = {
  software: `${versionOf('pg-boss')}, four loops that fetch 50 and complete each`,
  isolation: "none: jobs run in the worker's own process",
  durability: 'PostgreSQL with fsync; status and result kept for some hours',
}

/** The seconds that so many queued no-ops took, on a database of its own. */
export async function drainPgBoss(lab: Lab, count: number): Promise<number> {
  const env = {
    ...surroundings(),
    DATABASE_URL: await lab.database(),
    PG_BOSS: peerModule(lab.peers ?? '', 'pg-boss'),
  }
  const { stdout } = await promisify(execFile)(process.execPath, [driver, String(count)], { env })
  return (JSON.parse(stdout) as { seconds: number }).seconds
}
