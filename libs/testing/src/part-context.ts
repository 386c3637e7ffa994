import { InProcessNetwork, type Neighbours } from '@automation/rpc'
import type { PartContext } from '@automation/service'
import { pino } from 'pino'
import { Registry } from 'prom-client'

/** Says nothing, unless TEST_LOG_LEVEL asks for it. */
export const silentLogger = pino({ level: process.env['TEST_LOG_LEVEL'] ?? 'silent' })

/** What a part is given in a test; pass the network that the parts of the test are added to. */
export function testContext(neighbours: Neighbours = new InProcessNetwork()): PartContext {
  return { neighbours, logger: silentLogger, metrics: new Registry() }
}
