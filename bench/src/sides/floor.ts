import { fileURLToPath } from 'node:url'
import type { Lab } from '../lab.ts'
import { answers, startProgram } from './program.ts'
import type { Language } from './ours.ts'
import type { About } from './side.ts'

const server = fileURLToPath(new URL('floor-server.ts', import.meta.url))

/** What holds for every floor. */
export const floorAbout: About = {
  software: 'Hono, pg and nothing else',
  isolation: 'none: a plain child process without a jail, no check after the run',
  durability: 'PostgreSQL with fsync, one commit per write',
}

export interface Floor {
  url: string
  databaseUrl: string
  close(): Promise<void>
}

/** The floor's server on a database of its own, ready; its no-op is in the given language. */
export async function openFloor(lab: Lab, language: Language = 'JAVASCRIPT'): Promise<Floor> {
  const [port, databaseUrl] = await Promise.all([lab.port(), lab.database()])
  const url = `http://127.0.0.1:${port}`
  const program = await startProgram({
    file: process.execPath,
    args: [server],
    env: { PORT: String(port), DATABASE_URL: databaseUrl, FLOOR_LANGUAGE: language },
    ready: () => answers(`${url}/ready`),
  })
  return { url, databaseUrl, close: () => program.stop() }
}
