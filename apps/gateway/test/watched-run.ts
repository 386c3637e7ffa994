import { LogLevel, Status, type WatchExecutionResponseSchema } from '@automation/contract/execution/v1/execution'
import type { MessageInitShape } from '@bufbuild/protobuf'
import type { GatewayForTests } from './gateway-for-tests.ts'

type Message = MessageInitShape<typeof WatchExecutionResponseSchema>

/** A line of a run's log, as execution tells of it. */
export function logMessage(position: string, message: string): Message {
  const value = { timeUs: 1_700_000_000_123_456n, level: LogLevel.INFO, message }
  return { updates: [{ position, update: { case: 'log', value } }] }
}

export const endMessage: Message = { updates: [{ position: 'e', update: { case: 'end', value: Status.FINISHED } }] }

/** A run that tells these and then, unless it has ended, waits until its reader goes. */
export function tells({ servers }: GatewayForTests, ...messages: Message[]): { left: number } {
  const readers = { left: 0 }
  servers.answers.set('watchExecution', async function* (_: never, { signal }: { signal: AbortSignal }) {
    try {
      yield { updates: [] }
      yield* messages
      if (messages.at(-1) !== endMessage)
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    } finally {
      readers.left += 1
    }
  } as never)
  return readers
}
