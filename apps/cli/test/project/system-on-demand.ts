import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where a test file gets a team of its own on the one system of a run. */
    teamsUrl: string
  }
}

const root = resolve(import.meta.dirname, '../../../..')

/** How long it waits for another file: a system that does nothing takes of the machine, too. */
const lingerMs = 5000

/** One embedded system for all test files that ask for a team, started for the first one; it ends behind the last. */
export default async function systemOnDemand(project: TestProject): Promise<() => Promise<void>> {
  let system: Started | undefined
  /** Of files that go on. */
  let users = 0
  let ending: NodeJS.Timeout | undefined
  /** One team after the other, and no end of the system before one is made. */
  let last: Promise<unknown> = Promise.resolve()
  const stop = async () => {
    const ended = system
    system = undefined
    await ended?.stop()
  }
  const server = createServer((request, response) => {
    if (request.method === 'DELETE') {
      users -= 1
      if (users === 0) ending = setTimeout(() => (last = last.then(stop)), lingerMs)
      response.end()
      return
    }
    users += 1
    clearTimeout(ending)
    const made = last.then(() => (system ??= start()).team(request.url!.slice(1)))
    last = made.catch(() => undefined)
    made.then(
      (team) => response.end(team),
      ({ message }: Error) => response.end(JSON.stringify({ error: message })),
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  server.unref()
  project.provide('teamsUrl', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return async () => {
    server.close()
    clearTimeout(ending)
    await last
    await stop()
  }
}

interface Started {
  /** Makes a team; gives how to reach it, or its `error`, as JSON. */
  team(name: string): Promise<string>
  stop(): Promise<void>
}

function start(): Started {
  const child = spawn(process.execPath, [join(root, 'e2e/clients/system.ts')], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const next = async () => {
    const { value, done } = await lines.next()
    if (done) throw new Error('The system has ended')
    return value
  }
  const ready = next()
  ready.catch(() => undefined)
  return {
    async team(name) {
      await ready
      child.stdin.write(`team ${name}\n`)
      return next()
    },
    async stop() {
      child.stdin.end()
      await ended
    },
  }
}
