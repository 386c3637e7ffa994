import { createServer, type RequestListener, type Server } from 'node:http'
import { connect } from 'node:net'
import { listening } from '@automation/testing/listening'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { sandboxId, startSandboxGateway, type SandboxGateway } from './sandbox-gateway.ts'

/** An application on a public port of a sandbox. The sandboxes here have no network of their own, so it lives here. */
export interface SandboxApplication {
  system: SandboxGateway
  app: Server
  port: number
  /** `http://…/<sandbox id>/<port>`. */
  base: string
  answer: RequestListener
  /** Everything as at the beginning. */
  reset(): void
  stop(): Promise<void>
}

async function startApplication(): Promise<SandboxApplication> {
  const system = await startSandboxGateway()
  const app = createServer((incoming, outgoing) => application.answer(incoming, outgoing))
  const { port, close } = await listening(app)
  const { route } = system
  const application: SandboxApplication = {
    system,
    app,
    port,
    base: `${system.publicBase}/${sandboxId}/${port}`,
    answer: (_incoming, outgoing) => outgoing.end('hello'),
    reset: () => {
      application.answer = (_incoming, outgoing) => outgoing.end('hello')
      system.publicPorts = new Set([port])
      system.starting = false
      system.route = { ...route, basicAuth: undefined }
    },
    stop: async () => {
      await system.stop()
      await close()
    },
  }
  return application
}

/** For a test file: the application is started before its tests, as at the beginning before each, and stopped after all. */
export function useApplication(started: (application: SandboxApplication) => void): void {
  let application: SandboxApplication
  beforeAll(async () => {
    application = await startApplication()
    started(application)
  })
  beforeEach(() => application.reset())
  afterAll(() => application.stop())
}

/** Sends bytes and gives all that comes until the connection ends. */
export async function raw(bytes: string, base: string): Promise<string> {
  const socket = connect(Number(new URL(base).port), '127.0.0.1')
  socket.write(bytes)
  return Buffer.concat(await Array.fromAsync(socket as AsyncIterable<Buffer>)).toString('latin1')
}
