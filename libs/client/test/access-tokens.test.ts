import { describe, expect, test } from 'vitest'
import { Client, ConnectionError } from '@automation/client'

type Exchange = (signal: AbortSignal) => Promise<Response>

const token = () => Response.json({ access_token: 'eyJh.eyJl.c2ln', expires_in: 3600 })

/** Settles when its request is given up alone, as one to a service that is silent. */
const hanging: Exchange = (signal) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))

/** A client of a service that answers each exchange of the API token in this way, and all else at once. */
function clientOf(exchange: Exchange, { status = 200 } = {}) {
  const exchanges: AbortSignal[] = []
  const pas = new Client({
    ...{ url: 'http://pas.test', team: 'demo', token: 'sk-secret' },
    fetch: (url, init) => {
      if (!(url as URL).pathname.endsWith('/auth/token'))
        return Promise.resolve(Response.json({ slug: 'demo' }, { status }))
      exchanges.push(init!.signal!)
      return exchange(init!.signal!)
    },
    maxRetries: 1,
  })
  return { pas, exchanges }
}

const failureOf = (call: Promise<unknown>) => call.then(() => undefined).catch((error: unknown) => error)

describe('the wait for an access token', () => {
  test('ends with the signal of the call, which ends it for no other call', async () => {
    const answer = Promise.withResolvers<Response>()
    const { pas, exchanges } = clientOf(() => answer.promise)
    const stop = new AbortController()
    const left = failureOf(pas.team.get({ signal: stop.signal }))
    const other = pas.team.get()
    stop.abort(new Error('enough'))
    expect(await left).toEqual(new Error('enough'))
    expect(await failureOf(pas.team.get({ signal: stop.signal }))).toEqual(new Error('enough'))
    answer.resolve(token())
    expect(await other).toEqual({ slug: 'demo' })
    expect(exchanges.map(({ aborted }) => aborted)).toEqual([false])
  })

  test('ends with the time limit of the call', async () => {
    const { pas } = clientOf(hanging)
    const call = pas.processes.create({ name: 'x' }, { requestTimeoutMs: 20 })
    await expect(call).rejects.toMatchObject({ name: 'ConnectionError', code: 'timeout' })
    await expect(call).rejects.toThrow(/POST .*processes: no answer within 20 ms/)
  })

  test('ends with the signal, also where the service has refused the old token', async () => {
    const stop = new AbortController()
    const { pas, exchanges } = clientOf(
      (signal) => {
        if (exchanges.length === 1) return Promise.resolve(token())
        stop.abort(new Error('enough'))
        return hanging(signal)
      },
      { status: 401 },
    )
    expect(await failureOf(pas.team.get({ signal: stop.signal }))).toEqual(new Error('enough'))
  })
})

describe('an exchange that fails', () => {
  const broken: Exchange = () => Promise.reject(new TypeError('reset'))

  test('is repeated as a call is, and not once more by the calls that waited for it', async () => {
    const { pas, exchanges } = clientOf(broken)
    const failures = await Promise.all([failureOf(pas.team.get()), failureOf(pas.team.limits())])
    expect(failures).toEqual([expect.any(ConnectionError), expect.any(ConnectionError)])
    expect(String(failures[0])).toMatch(/POST .*auth\/token/)
    expect(exchanges).toHaveLength(2)
  })

  test('is not repeated by a stream that was never open', async () => {
    const { pas, exchanges } = clientOf(broken)
    expect(await failureOf(pas.team.events().next())).toBeInstanceOf(ConnectionError)
    expect(exchanges).toHaveLength(2)
  })
})
