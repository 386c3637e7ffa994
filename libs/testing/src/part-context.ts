import { InProcessNetwork, type Neighbours } from '@automation/rpc'
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
