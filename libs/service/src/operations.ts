import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Registry } from 'prom-client'
import type { Health } from './health.ts'

interface OperationsAnswer {
  status: number
  contentType: string
  body: string
}

/** Answers `/livez`, `/readyz` and `/metrics`; undefined for any other path. */
async function operationsAnswer(
  path: string,
  health: Pick<Health, 'report'>,
  metrics: Registry,
): Promise<OperationsAnswer | undefined> {
  switch (path) {
    case '/livez':
      return json(200, { status: 'live' })
    case '/readyz': {
      const report = await health.report()
      return json(report.status === 'ready' ? 200 : 503, report)
    }
    case '/metrics':
      return { status: 200, contentType: metrics.contentType, body: await metrics.metrics() }
    default:
      return undefined
  }
}

function json(status: number, value: unknown): OperationsAnswer {
  return { status, contentType: 'application/json', body: JSON.stringify(value) }
}

export interface OperationsServer {
  port: number
  close(): Promise<void>
}

/** Serves them over HTTP on a port of their own, which users do not reach. */
export async function serveOperations(
  options: { host: string; port: number },
  health: Health,
  metrics: Registry,
): Promise<OperationsServer> {
  const server = createServer({ requestTimeout: 5000 }, (request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? ''
    const readable = request.method === 'GET' || request.method === 'HEAD'
    operationsAnswer(readable ? path : '', health, metrics).then(
      (answer = json(404, { status: 'not found' })) => {
        response.writeHead(answer.status, { 'content-type': answer.contentType, 'cache-control': 'no-store' })
        response.end(request.method === 'HEAD' ? undefined : answer.body)
      },
      () => response.writeHead(500).end(),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port, options.host, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
