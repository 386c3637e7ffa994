import { InProcessNetwork, type Neighbours, ownContext, type CallContext, type Principal } from '@automation/rpc'
import type { Logger, PartContext } from '@automation/service'
import { pino } from 'pino'
import { Registry } from 'prom-client'

/** Says nothing, unless TEST_LOG_LEVEL asks for it. */
export const silentLogger = pino({ level: process.env['TEST_LOG_LEVEL'] ?? 'silent' })

/** A logger whose lines are kept, as they are written. */
export function keptLog(): { logger: Logger; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = []
  const write = (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>)
  return { logger: pino({}, { write }), lines }
}

/** What a part is given in a test; pass the network that the parts of the test are added to. */
export function testContext(neighbours: Neighbours = new InProcessNetwork()): PartContext {
  return { neighbours, logger: silentLogger, metrics: new Registry() }
}

// All files of a worker share what their helpers have made at their load, however long that is ago.
const longMs = 24 * 3_600_000

/** A call by a user of this team, as the gateway makes it from a verified token. */
export function userContext(team: string, principal: Partial<Principal> = {}, timeoutMs = longMs): CallContext {
  return ownContext({ role: 'user', team, subject: `sa-${team}-test0000`, name: 'tester', ...principal }, timeoutMs)
}

/** A call by the operator's command line. */
export function operatorContext(timeoutMs = longMs): CallContext {
  return ownContext({ role: 'operator', team: '', subject: 'admin', name: 'operator' }, timeoutMs)
}

/** A call by another service, for no team unless one is named. */
export function serviceContext(name: string, team = '', timeoutMs = longMs): CallContext {
  return ownContext({ role: 'service', team, subject: name, name }, timeoutMs)
}
