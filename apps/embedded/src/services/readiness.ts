import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '@automation/errors'
import type { Check } from '@automation/service'
import type { ServicePlan } from './plan.ts'
import type { Supervised } from './supervised.ts'

/**
 * Waits until a service says on /readyz that it is ready. Failure `service_not_started` when its process ends before, or
 * when `withinMs` are over; its own log says why. Stops waiting, without a word, when `signal` is aborted.
 */
export async function untilReady(
  plan: ServicePlan,
  service: Supervised,
  withinMs: number,
  signal: AbortSignal,
): Promise<void> {
  let lastAnswer = 'nobody listens'
  for (const until = Date.now() + withinMs; ;) {
    if (signal.aborted) return
    const answer = await readyz(plan.healthUrl)
    if (answer === 'ready') return
    lastAnswer = answer
    if (service.starts() > 1 || service.pid() === undefined)
      throw notStarted(`The service ${plan.name} ended while it started; its log above says why.`)
    if (Date.now() > until)
      throw notStarted(`The service ${plan.name} is not ready after ${withinMs} ms: ${lastAnswer}`)
    await pause(50)
  }
}

async function readyz(healthUrl: string): Promise<string> {
  try {
    const response = await fetch(`${healthUrl}/readyz`, { signal: AbortSignal.timeout(2000) })
    const body = await response.text()
    return response.ok ? 'ready' : body
  } catch (error) {
    const { cause } = error as Error
    return cause instanceof Error ? cause.message : String(error)
  }
}

/** What a service that is ready tells of its checks. */
export async function checksAt(healthUrl: string): Promise<Check[]> {
  const response = await fetch(`${healthUrl}/readyz`, { signal: AbortSignal.timeout(2000) })
  return ((await response.json()) as { checks: Check[] }).checks
}

function notStarted(text: string): Failure {
  return new Failure('failed_precondition', 'service_not_started', text)
}
