import { createServer } from 'node:http'
import { listening } from '@automation/testing/listening'
import type { Client } from '../client/client.ts'
import type { AuditEvent, Execution, Page } from '../client/records.ts'
import type { Book } from './book.ts'
import type { Violation } from './invariants.ts'

/** The slug of the process that runs after each failure. */
export const handlerSlug = 'mends'

/** The code of an error handler that tells the ledger what any run tells it. */
export const handlerCode = `
const { parameters } = svc.context.parameters.execution
const nonce = crypto.randomUUID()
const tell = async (what) => {
  const body = JSON.stringify({ what, id: svc.execution.id, nonce, pid: process.pid })
  await (await fetch(parameters.ledger, { method: 'POST', body })).arrayBuffer()
}
await tell('start')
await tell('end')
`

/** Receives callbacks, or refuses them for a while, and keeps each status that it was told by key. */
export interface CallbackReceiver {
  url: string
  /** By `Idempotency-Key`: the statuses that came with it. */
  delivered: ReadonlyMap<string, ReadonlySet<string>>
  /** Whether it refuses what comes. */
  refuses: boolean
  close(): Promise<void>
}

/** `heard` is told of each callback that comes. */
export async function openReceiver(heard = (): void => undefined): Promise<CallbackReceiver> {
  const delivered = new Map<string, Set<string>>()
  const server = createServer((request, response) => {
    const noted = request
      .setEncoding('utf8')
      .toArray()
      .then((parts) => {
        if (receiver.refuses) return 503
        const { status } = JSON.parse(parts.join('')) as { status: string }
        const key = String(request.headers['idempotency-key'])
        delivered.set(key, (delivered.get(key) ?? new Set()).add(status))
        heard()
        return 204
      })
    noted.then(
      (status) => response.writeHead(status).end(),
      (error: Error) => response.writeHead(400).end(error.message),
    )
  })
  const { url, close } = await listening(server)
  const receiver: CallbackReceiver = { url: `${url}/ended`, delivered, refuses: false, close }
  return receiver
}

interface Followed {
  client: Client
  book: Book
  receiver: CallbackReceiver
}

const wantsCallback = new Set(['execute', 'execute-sync', 'keyed call', 'nested'])

/** What should have followed from these ended runs and has not, or twice: callbacks, error handlers, audit records. */
export async function faultsOfFollowUps(at: Followed, listed: ReadonlyMap<string, Execution>): Promise<Violation[]> {
  const { client, book, receiver } = at
  const found: Violation[] = []
  const started = Map.groupBy(await startRecords(client), ({ entityId }) => entityId)
  const handlers = Map.groupBy(
    [...listed.values()].filter(({ processSlug }) => processSlug === handlerSlug),
    ({ parameters }) => (parameters as unknown as { execution: { id: string } }).execution.id,
  )
  for (const { id, status, processSlug, timeline } of listed.values()) {
    const fault = (rule: string, description: string) => found.push({ rule, id, description })
    const records = started.get(id)?.length ?? 0
    if (records !== 1) fault('one audit record for a start', `${records} of a run of ${processSlug}`)
    const handled = handlers.get(id)?.length ?? 0
    const due = status === 'ERROR' && processSlug !== handlerSlug ? 1 : 0
    if (handled !== due) fault('one error handler for a failure', `${handled} for ${status}`)
    const by = book.promised.get(id)?.by
    if (by === undefined || !wantsCallback.has(by)) continue
    const last = Math.max(...timeline.events.map((_, index) => index + 1))
    const delivered = [...(receiver.delivered.get(`${id}:${last}`) ?? [])]
    if (delivered.join() !== status)
      fault('a callback for an end', `delivered ${delivered.join() || 'nothing'}, it is ${status}`)
  }
  return found
}

async function startRecords(client: Client): Promise<AuditEvent[]> {
  const found: AuditEvent[] = []
  for (let page = 0; ; page += 1) {
    const answer = await client.get<Page<AuditEvent>>('/audit-events', { type: 'EXECUTION', page, limit: 1000 })
    if (answer.status !== 200) throw new Error(`Audit events were refused with ${answer.status}: ${answer.text}`)
    found.push(...answer.body.data.filter(({ event }) => event === 'started'))
    if (!answer.body.hasNextPage) return found
  }
}
