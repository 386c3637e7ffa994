import type { Check, Registry } from '@automation/service'
import type { Answer } from '../http/answer.ts'

export interface Operations {
  readiness: () => Promise<Check[]>
  metrics: Registry
}

/** The pages that operators and their tools look at. They need no token: a chart keeps them inside the cluster. */
export async function operationsAnswer(path: string, { readiness, metrics }: Operations): Promise<Answer | undefined> {
  switch (path) {
    case '/livez':
      return json(200, { status: 'ok' })
    case '/readyz':
      return readinessAnswer(await readiness())
    case '/metrics':
      return { status: 200, headers: { 'Content-Type': metrics.contentType }, body: await metrics.metrics() }
    default:
      return undefined
  }
}

function readinessAnswer(checks: Check[]): Answer {
  const ok = checks.every((check) => check.ok)
  return json(ok ? 200 : 503, { status: ok ? 'ready' : 'not ready', checks })
}

function json(status: number, body: unknown): Answer {
  return {
    status,
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
    body: JSON.stringify(body),
  }
}
