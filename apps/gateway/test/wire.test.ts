import { connect } from 'node:net'
import { notFound, stopping, unavailable } from '@automation/errors'
import { until } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EXECUTION_ID } from './contract-servers.ts'
import { startGateway, type GatewayForTests } from './gateway-for-tests.ts'

let gateway: GatewayForTests

beforeAll(async () => {
  gateway = await startGateway({ BODY_MAX_BYTES: '100000' })
})
afterAll(() => gateway.stop())

interface RawAnswer {
  status: number
  head: string
  problem: { status: number; code: string; requestId: string }
}

/** Sends bytes and reads one whole answer. */
function exchange(bytes: string, port = gateway.gateway.port()): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    let text = ''
    socket.on('error', reject)
    socket.on('close', () => reject(new Error(`closed after ${JSON.stringify(text)}`)))
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      const [head = '', body] = text.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '').split('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
      if (body === undefined || body.length < length) return
      socket.removeAllListeners('close').destroy()
      const problem = (body === '' ? {} : JSON.parse(body)) as RawAnswer['problem']
      resolve({ status: Number(head.split(' ')[1]), head, problem })
    })
  })
}

const webhook = 'POST /api/demo/webhooks/hello HTTP/1.1\r\nHost: x\r\n'

describe('what is no proper request gets a proper answer', () => {
  test.each([
    ['no HTTP', 'hello\r\n\r\n', 400, 'malformed_request'],
    ['a space in the address', 'GET /a b HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'malformed_request'],
    ['no Host', 'GET /livez HTTP/1.1\r\n\r\n', 400, 'malformed_request'],
    ['two Hosts', 'GET /livez HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n', 400, 'malformed_request'],
    ['a Host that is none', 'GET /livez HTTP/1.1\r\nHost: a b\r\n\r\n', 400, 'malformed_request'],
    ['a backslash', 'GET /api\\x HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'malformed_request'],
    ['two lengths', `${webhook}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`, 400, 'malformed_request'],
    [
      'a length and chunks',
      `${webhook}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
      'malformed_request',
    ],
    ['a broken chunk', `${webhook}Transfer-Encoding: chunked\r\n\r\nZZ\r\n`, 400, 'malformed_request'],
    ['an unknown method', 'FOO / HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'malformed_request'],
    ['CONNECT', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', 405, 'method_not_allowed'],
    ['TRACE', 'TRACE /api/demo/rest/team HTTP/1.1\r\nHost: x\r\n\r\n', 405, 'method_not_allowed'],
    ['large headers', `GET /livez HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`, 431, 'headers_too_large'],
    ['a large address', `GET /${'x'.repeat(17_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431, 'headers_too_large'],
    ['an expectation', `${webhook}Expect: magic\r\nContent-Length: 0\r\n\r\n`, 417, 'expectation_failed'],
    ['10 GB declared', `${webhook}Content-Length: 10000000000\r\n\r\n{`, 413, 'body_too_large'],
    [
      '10 GB declared, asking first',
      `${webhook}Expect: 100-continue\r\nContent-Length: 10000000000\r\n\r\n`,
      413,
      'body_too_large',
    ],
    [
      'chunks beyond the limit',
      `${webhook}Transfer-Encoding: chunked\r\n\r\n${`4000\r\n${'x'.repeat(0x4000)}\r\n`.repeat(7)}`,
      413,
      'body_too_large',
    ],
  ])('%s', async (...[, bytes, status, code]) => {
    const answer = await exchange(bytes)
    expect(answer).toMatchObject({ status, problem: { status, code } })
    expect(answer.head).toContain('application/problem+json')
    expect(answer.head).toContain(`X-Request-Id: ${answer.problem.requestId}`)
  })

  test('the refusal of CONNECT says which methods there are', async () => {
    expect((await exchange('CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n')).head).toContain('\r\nAllow: GET, HEAD, POST')
  })

  test('letters beyond ASCII in an address are told to be percent-encoded', async () => {
    const answer = await exchange('GET /api/demo/webhooks/hello?name=Jörg HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(answer.problem).toMatchObject({ status: 400, message: expect.stringMatching(/must be percent-encoded/) })
  })

  test('16 KiB of headers are fine, be they many', async () => {
    const { status } = await exchange(`GET /livez HTTP/1.1\r\nHost: x\r\n${'a:b\r\n'.repeat(3000)}\r\n`)
    expect(status).toBe(200)
  })

  test('a client that asks before it sends is told to go on', async () => {
    const { status } = await exchange(
      `${webhook}Expect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
    )
    expect(status).toBe(204)
  })

  test('an idle connection is kept for longer than a proxy keeps its own, which would lose a request on one that ends', async () => {
    const { head } = await exchange('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n')
    // Caddy: 120 s, Traefik: 90 s, nginx: 60 s.
    expect(Number(/^keep-alive: timeout=(\d+)/im.exec(head)?.[1])).toBeGreaterThan(120)
  })

  test('an absolute address means the same as its path', async () => {
    expect((await exchange('GET http://else/livez HTTP/1.1\r\nHost: x\r\n\r\n')).status).toBe(200)
    expect((await exchange('GET http://else/api/demo/webhooks/hello HTTP/1.1\r\nHost: x\r\n\r\n')).status).toBe(204)
  })
})

describe('stopping', () => {
  const slow = async () => {
    const own = await startGateway()
    let finish: (value?: unknown) => void = () => undefined
    const run = new Promise((resolve) => {
      finish = resolve
    })
    const called = new Promise<void>((resolve) => {
      own.servers.answers.set('runExecution', async () => {
        resolve()
        await run
        return { executionId: EXECUTION_ID, status: 5, returnValue: new TextEncoder().encode('"done"') }
      })
    })
    return { own, finish, called }
  }

  test('a call that runs is answered within the grace, and soon nothing new is taken', async () => {
    const { own, finish, called } = await slow()
    const answer = own.request('POST', '/api/demo/webhooks/hello')
    await called
    const stopped = own.gateway.stop(60_000)
    await until(() =>
      own.request('GET', '/livez').then(
        ({ ok }) => !ok,
        () => true,
      ),
    )
    finish()
    expect([(await answer).status, await (await answer).text()]).toEqual([200, 'done'])
    expect((await answer).headers.get('connection')).toBe('close')
    await stopped
  })

  test('a call that outlasts the grace is told to come again', async () => {
    const { own, called } = await slow()
    const answers = [
      own.request('POST', '/api/demo/webhooks/hello'),
      own.rest('POST', '/processes/hello/execute-sync', {}),
    ]
    await called
    await expect.poll(() => own.servers.received.filter((one) => one.method === 'runExecution')).toHaveLength(2)
    await own.gateway.stop(50)
    for (const answer of await Promise.all(answers)) {
      expect(answer.status).toBe(503)
      expect(answer.headers.get('retry-after')).toBe('1')
    }
    await own.gateway.stop(50)
  })

  test('idle connections do not hold it up', async () => {
    const own = await startGateway()
    await (await own.request('GET', '/livez')).text()
    const before = performance.now()
    await own.gateway.stop(60_000)
    expect(performance.now() - before).toBeLessThan(30_000)
  })
})

describe('a call whose replica of execution stops', () => {
  const atStoppingReplica = async () => {
    const own = await startGateway()
    const answer = { executionId: EXECUTION_ID, replayed: true, replicaStops: true }
    own.servers.answers.set('runExecution', () => answer)
    own.servers.returns('"elsewhere"')
    return own
  }

  test.for([
    ['REST', '/api/demo/rest/processes/hello/execute-sync', 203, '"elsewhere"'],
    ['a webhook', '/api/demo/webhooks/hello', 200, 'elsewhere'],
  ] as const)('waits on at another: %s', async ([, path, status, text]) => {
    const own = await atStoppingReplica()
    const answer = await own.request('POST', path)
    const replayed = answer.headers.get('idempotency-replayed')
    expect([answer.status, await answer.text(), replayed]).toEqual([status, text, 'true'])
    const { executionId, waitMs } = own.servers.last<{ executionId: string; waitMs: number }>('awaitExecution')
    expect(executionId).toBe(EXECUTION_ID)
    expect(waitMs).toBeGreaterThan(1000)
    await own.gateway.stop(0)
  })

  test('and at the next, where that one stops too or can not be reached yet, or all that there are stop', async () => {
    const own = await atStoppingReplica()
    const { network } = own.servers
    network.replicas = () => ['one', 'another']
    const away = () => {
      throw unavailable('away')
    }
    const stops = () => {
      throw stopping()
    }
    const done = { executionId: EXECUTION_ID, status: 5, returnValue: new TextEncoder().encode('"elsewhere"') }
    const answers = [away, () => ({ executionId: EXECUTION_ID, replicaStops: true }), away, stops, stops, () => done]
    own.servers.answers.set('awaitExecution', () => answers.shift()!())
    const answer = await own.rest('POST', '/processes/hello/execute-sync', {})
    expect([answer.status, await answer.json()]).toEqual([203, 'elsewhere'])
    expect(answers).toEqual([])
    await own.gateway.stop(0)
  })

  test('a failure while it waits is told with the execution', async () => {
    const own = await atStoppingReplica()
    own.servers.answers.set('awaitExecution', () => {
      throw notFound('execution')
    })
    const answer = await own.rest('POST', '/processes/hello/execute-sync', {})
    expect([answer.status, answer.headers.get('svc-execution-id')]).toEqual([404, EXECUTION_ID])
    await own.gateway.stop(0)
  })

  test('where there is no other it is told which execution goes on', async () => {
    const own = await atStoppingReplica()
    own.servers.answers.set('awaitExecution', () => {
      throw stopping()
    })
    const answer = await own.rest('POST', '/processes/hello/execute-sync', {})
    expect(answer.status).toBe(503)
    expect(answer.headers.get('svc-execution-id')).toBe(EXECUTION_ID)
    expect(await answer.json()).toMatchObject({ detail: 'The service is stopping; the execution goes on' })
    await own.gateway.stop(0)
  })
})

test('a client that goes away gives its call up', async () => {
  const gone = new Promise<boolean>((resolve) => {
    gateway.servers.answers.set('runExecution', (_request, { signal }) => {
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          resolve(true)
          reject(new Error('gone'))
        })
      })
    })
  })
  const before = gateway.servers.received.length
  const controller = new AbortController()
  const call = fetch(`${gateway.base}/api/demo/webhooks/hello`, { method: 'POST', signal: controller.signal })
  await expect.poll(() => gateway.servers.received.length).toBe(before + 1)
  controller.abort()
  await expect(call).rejects.toThrow('aborted')
  expect(await gone).toBe(true)
  gateway.servers.answers.clear()
})
