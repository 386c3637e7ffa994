import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { listening } from '@automation/testing/listening'
import { processInside } from '../system/process-table.ts'
import type { ProcessId } from '../system/process-table.ts'

/** What process code of one execution really did. Times are milliseconds since the Unix epoch. */
export interface Entry {
  /** One word for each time that the code began. */
  starts: Set<string>
  ends: number
  firstSeenAt: number
  lastSeenAt: number
  /** The process that ran it, and those that it started. */
  process: ProcessId | undefined
  children: ProcessId[]
}

interface Note {
  what: 'start' | 'beat' | 'child' | 'end'
  id: string
  nonce: string
  pid: number
}

/** Counts, outside the system, what process code tells about itself over HTTP. */
export interface Ledger {
  url: string
  entries: ReadonlyMap<string, Entry>
  close(): Promise<void>
}

export async function openLedger(): Promise<Ledger> {
  const entries = new Map<string, Entry>()
  const server = createServer((request, response) => {
    const noted = read(request).then((note) => write(entries, note))
    noted.then(
      () => response.end('{}'),
      (error: Error) => response.writeHead(400).end(error.message),
    )
  })
  const { url, close } = await listening(server)
  return { url, entries, close }
}

async function read(request: IncomingMessage): Promise<Note> {
  const text = (await request.setEncoding('utf8').toArray()).join('')
  return JSON.parse(text) as Note
}

function write(entries: Map<string, Entry>, { what, id, nonce, pid }: Note): void {
  const now = Date.now()
  const entry = entries.get(id) ?? blank(now)
  entries.set(id, entry)
  entry.lastSeenAt = now
  if (what === 'end') entry.ends += 1
  if (what === 'start') {
    entry.starts.add(nonce)
    entry.process = processInside(pid, /children\/javascript\/(?:main|start)\.js/)
  }
  const child = what === 'child' ? processInside(pid, /^sleep 307$/) : undefined
  if (child) entry.children.push(child)
}

function blank(now: number): Entry {
  return { starts: new Set(), ends: 0, firstSeenAt: now, lastSeenAt: now, process: undefined, children: [] }
}
