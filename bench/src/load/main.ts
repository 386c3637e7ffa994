import { text } from 'node:stream/consumers'
import { Connection, headerOf, type Answer } from './connection.ts'
import { requestBytes } from './request.ts'
import type { LoadResult, Pattern, RequestSpec } from './spec.ts'
import { percentile } from '../statistics.ts'

/** The load generator: a process of its own, so that it can be pinned. Reads a spec from stdin, writes the result. */
const { request, pattern } = JSON.parse(await text(process.stdin)) as { request: RequestSpec; pattern: Pattern }
const target = new URL(request.url)
const requests = (request.urls ?? [request.url]).map((url) => requestBytes({ ...request, url }))
let turn = 0
const connections = await Promise.all(
  Array.from({ length: 'connections' in pattern ? pattern.connections : 1 }, () =>
    Connection.open(target.hostname, Number(target.port)),
  ),
)
const result = await load(pattern)
for (const connection of connections) connection.close()
process.stdout.write(JSON.stringify(result))

async function load(how: Pattern): Promise<LoadResult> {
  if (how.kind === 'closed') {
    const warmUntil = performance.now() + how.warmUpS * 1000
    await measured(() => performance.now() < warmUntil, 0)
    const until = performance.now() + how.seconds * 1000
    return await measured(() => performance.now() < until, 0)
  }
  let left = how.count
  return await measured(() => left-- > 0, how.kind === 'paced' ? how.gapMs : 0)
}

async function measured(more: () => boolean, gapMs: number): Promise<LoadResult> {
  const latencies: number[] = []
  const ids: string[] = []
  const sentAtNs: string[] = []
  const startedAt = performance.now()
  await Promise.all(
    connections.map(async (connection) => {
      while (more()) {
        if (request.idHeader !== undefined) sentAtNs.push(String(process.hrtime.bigint()))
        const sentAt = performance.now()
        const answer = await connection.send(requests[turn++ % requests.length]!)
        latencies.push(performance.now() - sentAt)
        verify(answer)
        if (request.idHeader !== undefined) ids.push(headerOf(answer, request.idHeader) ?? '')
        if (gapMs > 0) await new Promise((resolve) => setTimeout(resolve, gapMs))
      }
    }),
  )
  const seconds = (performance.now() - startedAt) / 1000
  latencies.sort((a, b) => a - b)
  return {
    count: latencies.length,
    seconds,
    perSecond: latencies.length / seconds,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    maxMs: latencies.at(-1) ?? 0,
    ids,
    sentAtNs,
  }
}

function verify({ status, body }: Answer): void {
  const { expect } = request
  if (status !== expect.status || (expect.body !== undefined && body !== expect.body))
    throw new Error(`wrong answer from ${request.url}: ${status} ${body.slice(0, 500)}`)
}
