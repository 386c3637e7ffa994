import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { Client } from '@automation/client'

const root = resolve(import.meta.dirname, '../../../..')

/** A system that was started for a test file. */
export interface StartedSystem {
  host: string
  team: string
  apiToken: string
  client: Client
  stop(): Promise<void>
}

/** Starts an embedded system of its own. */
export async function startSystem(): Promise<StartedSystem> {
  const child = spawn(process.execPath, [join(root, 'e2e/clients/system.ts')], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const { value, done } = await lines.next()
  if (done) throw new Error('The system did not start')
  const { host, team, apiToken } = JSON.parse(value) as { host: string; team: string; apiToken: string }
  return {
    ...{ host, team, apiToken },
    client: new Client({ url: host, team, token: apiToken }),
    async stop() {
      child.stdin.end()
      await ended
    },
  }
}
