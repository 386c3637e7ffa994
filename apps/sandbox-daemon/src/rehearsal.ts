import { randomBytes } from 'node:crypto'
import { CommandService, ControlService } from '@automation/contract/sandbox/v1/daemon'
import { keyedChannel } from '@automation/rpc/keyed'
import type { WireLogger } from '@automation/rpc/keyed-server'
import { startDaemon } from './daemon.ts'
import { keyDigest } from './owner.ts'

// What is called so often has been compiled.
const rounds = 6
const withinMs = 3000
const maxMessageBytes = 1024 * 1024
const principal = { role: 'service' as const, team: '', subject: 'rehearsal', name: 'rehearsal' }

/**
 * Plays through what a sandbox is asked for first, with a daemon that belongs to nobody else and is gone afterwards: so
 * the first calls find everything loaded and compiled. Rejects where that can't be.
 */
export async function rehearse(logger: WireLogger): Promise<void> {
  const apiKey = randomBytes(24).toString('hex')
  const daemon = await startDaemon({
    listen: { host: '127.0.0.1', port: 0 },
    daemonKeyDigest: keyDigest(apiKey),
    logger,
  })
  const channel = keyedChannel({
    address: `127.0.0.1:${daemon.port}`,
    apiKey,
    maxMessageBytes,
    keepaliveMs: withinMs,
  })
  const signal = AbortSignal.timeout(withinMs)
  const context = { principal, requestId: 'rehearsal', signal }
  try {
    await channel.isServing(withinMs)
    const owner = { sandboxId: 'rehearsal', grpcApiKey: apiKey, daemonKey: apiKey }
    await channel.client(ControlService).adopt(owner, context)
    const commands = channel.client(CommandService)
    for (let round = 0; round < rounds; round += 1) {
      const start = { command: ['echo', 'here'], environment: {}, timeoutMs: withinMs }
      const requests = [
        { message: { case: 'start' as const, value: start } },
        { message: { case: 'endOfInput' as const, value: {} } },
      ]
      for await (const _ of commands.runCommand(sent(requests), context)) continue
    }
  } finally {
    channel.close()
    await daemon.stop(0)
  }
}

async function* sent<T>(items: T[]): AsyncGenerator<T> {
  yield* items
}
