import { Agent, request } from 'node:http'

/** Calls that come whether those before are answered or not, as the callers of a service do. */
export interface Arrivals {
  url: string
  headers: Record<string, string>
  /** JSON text. */
  body: string
  perSecond: number
}

/** How calls were answered. */
export interface Answers {
  /** By status; `broken` where a connection broke or none was to be had. */
  byStatus: Map<string, number>
  /** 429 and 503 that do not say when to come again. */
  withoutRetryAfter: number
  /** Of successes, in ms. */
  tookMs: number[]
  /** Calls that were not made, since so many were open already. */
  heldBack: number
}

/** The most calls of one sender that are open at once: what it would send beyond is held back. */
const mostOpen = 400
const tickMs = 10
/** Calls that have no answer so long after the end count as `late`. */
const patienceMs = 60_000

/** Sends calls for so long and waits for their answers. */
export async function arrive({ url, headers, body, perSecond }: Arrivals, seconds: number): Promise<Answers> {
  const answers: Answers = { byStatus: new Map(), withoutRetryAfter: 0, tookMs: [], heldBack: 0 }
  const agent = new Agent({ keepAlive: true, maxSockets: mostOpen })
  const open = new Set<Promise<void>>()
  const began = performance.now()
  for (let sent = 0; ;) {
    const now = performance.now() - began
    if (now > seconds * 1000) break
    for (const due = Math.floor((now / 1000) * perSecond); sent < due; sent += 1) {
      if (open.size >= mostOpen) {
        answers.heldBack += 1
        continue
      }
      const call = callOnce()
      open.add(call)
      void call.finally(() => open.delete(call))
    }
    await new Promise((resolve) => setTimeout(resolve, tickMs))
  }
  const late = new Promise((resolve) => setTimeout(resolve, patienceMs).unref())
  await Promise.race([Promise.all(open), late])
  if (open.size > 0) answers.byStatus.set('late', open.size)
  agent.destroy()
  return answers

  function callOnce(): Promise<void> {
    const from = performance.now()
    return new Promise((resolve) => {
      const count = (how: string) => {
        answers.byStatus.set(how, (answers.byStatus.get(how) ?? 0) + 1)
        resolve()
      }
      const call = request(url, { method: 'POST', agent, headers: { ...headers, 'content-type': 'application/json' } })
      call.on('error', () => count('broken'))
      call.on('response', (answer) => {
        answer.resume()
        const { statusCode = 0 } = answer
        if ((statusCode === 429 || statusCode === 503) && answer.headers['retry-after'] === undefined)
          answers.withoutRetryAfter += 1
        answer.on('error', () => undefined) // told by the call
        answer.on('end', () => {
          if (statusCode < 300) answers.tookMs.push(performance.now() - from)
          count(String(statusCode))
        })
      })
      call.end(body)
    })
  }
}
