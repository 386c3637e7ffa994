import { CommandService, ControlService, FileService } from '@automation/contract/sandbox/v1/daemon'
import { served } from '@automation/rpc/served'
import { serveKeyed, type Listen, type WireLogger } from '@automation/rpc/keyed-server'
import { commandHandlers } from './commands/handlers.ts'
import { Commands } from './commands/commands.ts'
import { fileHandlers } from './files/handlers.ts'
import { Owner } from './owner.ts'
import { connectPort } from './ports/connect-port.ts'

/** What waits here of a connection for a slow port: about two pieces. */
const waitingBytes = 64 * 1024

interface DaemonOptions {
  listen: Listen
  /** Of what calls of the system bring. */
  daemonKeyDigest: Buffer
  logger: WireLogger
}

interface Daemon {
  port: number
  /** Ends what runs, and answers nothing any more. */
  stop(graceMs: number): Promise<void>
}

/** Starts to serve; belongs to nobody until it is adopted. */
export async function startDaemon({ listen, daemonKeyDigest, logger }: DaemonOptions): Promise<Daemon> {
  const owner = new Owner(daemonKeyDigest)
  const commands = new Commands(() => owner.environment)
  const services = [
    served(CommandService, commandHandlers(commands)),
    served(FileService, fileHandlers),
    served(
      ControlService,
      {
        adopt: (request) => {
          owner.adopt(request)
          return {}
        },
        connectPort,
      },
      waitingBytes,
    ),
  ]
  const server = await serveKeyed(services, {
    listen,
    verify: (key, method) => owner.verify(key, method),
    maxMessageBytes: 8 * 1024 * 1024,
    keepaliveMs: 20_000,
    logger,
  })
  return {
    port: server.port,
    stop: async (graceMs) => {
      commands.killAll()
      await server.close(graceMs)
    },
  }
}
