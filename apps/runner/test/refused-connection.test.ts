import { createServer } from 'node:net'
import { listening } from '@automation/testing/listening'
import { Language } from '@automation/contract/common/v1/language'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { missing } from './isolation/means.ts'
import { startRunner, type RunnerUnderTest } from './runner-under-test.ts'

const { port, close } = await listening(createServer((socket) => socket.destroy()))
afterAll(close)

const javascript = { language: Language.JAVASCRIPT }
const python = { language: Language.PYTHON }
const calls: [how: string, source: (at: string) => string, spec: { language: Language }][] = [
  ['fetch', (at) => `await fetch('http://${at}/api')`, javascript],
  [
    'a socket of Node',
    (at) => {
      const [host, to] = at.split(':')
      return `await new Promise((_, fail) => require('net').connect({ port: ${to}, host: '${host}' }).on('error', fail))`
    },
    javascript,
  ],
  ['urllib', (at) => `import urllib.request\nurllib.request.urlopen("http://${at}/api")`, python],
]

describe.each([
  { network: 'own', needs: ['namespaces', 'own network'] as const },
  { network: 'host', needs: ['namespaces', 'Landlock for ports'] as const },
])('in the network $network', ({ network, needs }) => {
  const why = missing([...needs])
  let under: RunnerUnderTest
  beforeAll(async () => {
    const settings = { ISOLATION: 'namespaces', ISOLATION_NETWORK: network, RUNNER_CLOSED_PORTS: String(port) }
    if (why === undefined) under = await startRunner(settings)
  })
  afterAll(() => under?.stop())

  test.skipIf(why !== undefined).for(calls)(
    'a connection to the service itself says so: %s',
    async ([, source, spec]) => {
      for (const host of ['127.0.0.1', 'localhost']) {
        const { explanation, log } = await under.replica.run(source(`${host}:${port}`), { spec })
        const words = `port ${port} is one of the service's own, which runs do not reach: use svc.processes`
        expect(explanation).toContain(words)
        // By this the line is known as that of the failure, and has its frames.
        expect(log.at(-1)!.message).toMatch(new RegExp(`^${RegExp.escape(explanation!)}(?:\n|$)`))
      }
    },
  )

  test.skipIf(why !== undefined).for(calls)(
    'one to nothing tells at most whose loopback that was: %s',
    async ([, source, spec]) => {
      const { explanation } = await under.replica.run(source('127.0.0.1:47123'), { spec })
      expect(explanation).toMatch(network === 'own' ? /; a run has a network of its own/ : /^[^;]*$/)
    },
  )

  test.skipIf(why !== undefined || network === 'own')('one that does not tell its port says so, too', async () => {
    const source = `import socket\nsocket.create_connection(("127.0.0.1", int(svc.context.parameters.port)))`
    const { explanation } = await under.replica.run(source, { spec: python, parameters: { port } })
    expect(explanation).toContain("is one of the service's own, which runs do not reach: use svc.processes")
  })

  test.skipIf(why !== undefined)('other failures stay as they are', async () => {
    const { explanation } = await under.replica.run(`throw new Error('see http://localhost:${port}/')`)
    expect(explanation).toBe(`Error: see http://localhost:${port}/`)
  })
})
