import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Lab } from '../lab.ts'
import { answers, startProgram } from '../sides/program.ts'
import type { About } from '../sides/side.ts'
import { peerModule, versionOf } from './install.ts'

const program = fileURLToPath(new URL('restate-service.ts', import.meta.url))

export const restateAbout: About = {
  software: versionOf('@restatedev/restate-server'),
  isolation: "none: the user's code runs in the user's own server process",
  durability: 'its own log on disk with fsync (default settings)',
}

export interface Restate {
  /** Address of the no-op; with `/send` appended it is queued. */
  noop: string
  /** How many calls the no-op has had. */
  calls(): Promise<number>
  close(): Promise<void>
}

/** Restate's server on an empty folder with the no-op registered. */
export async function openRestate(lab: Lab): Promise<Restate> {
  const folder = lab.peers ?? ''
  const [ports, data] = await Promise.all([Promise.all(Array.from({ length: 5 }, lab.port)), lab.folder('restate')])
  const [service = 0, count = 0, ingress = 0, admin = 0, node = 0] = ports
  const handler = await startProgram({
    file: process.execPath,
    args: [program],
    env: {
      PORT: String(service),
      COUNT_PORT: String(count),
      RESTATE_SDK: peerModule(folder, '@restatedev/restate-sdk'),
    },
    ready: () => answers(`http://127.0.0.1:${count}`),
  })
  try {
    const server = await startProgram({
      file: join(folder, 'node_modules/.bin/restate-server'),
      args: ['--no-logo', '--bind-port', String(node), '--bind-ip', '127.0.0.1', '--listen-mode', 'tcp'],
      cwd: data,
      env: {
        RESTATE_BASE_DIR: data,
        RESTATE_DISABLE_TELEMETRY: 'true',
        RESTATE_INGRESS__BIND_PORT: String(ingress),
        RESTATE_ADMIN__BIND_PORT: String(admin),
      },
      ready: () => registered(`http://127.0.0.1:${admin}`, service),
    })
    return {
      noop: `http://127.0.0.1:${ingress}/bench/noop`,
      calls: async () => Number(await (await fetch(`http://127.0.0.1:${count}`)).text()),
      close: async () => {
        await server.stop()
        await handler.stop()
      },
    }
  } catch (error) {
    await handler.stop()
    throw error
  }
}

async function registered(admin: string, servicePort: number): Promise<boolean> {
  if (!(await answers(`${admin}/health`))) return false
  const answer = await fetch(`${admin}/deployments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ uri: `http://127.0.0.1:${servicePort}` }),
  })
  await answer.body?.cancel()
  return answer.ok
}
