import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { ControlService } from '@automation/contract/sandbox/v1/daemon'
import { asService, ownContext, type Client } from '@automation/rpc'
import { keyedChannel } from '@automation/rpc/keyed'
import { connectSandbox, type Sandbox } from '@automation/client/sandbox'

export const daemonKey = 'a daemon key of the tests, long enough'
export const apiKey = 'sbx_0123456789_secret'
const program = fileURLToPath(import.meta.resolve('@automation/sandbox-daemon/main'))

export const system = () => ownContext(asService('gateway'), 10_000)

/** A daemon as a process that has inherited its listening socket, as in a sandbox of the local driver. */
export interface DaemonProcess {
  process: ChildProcess
  /** `unix:/…` */
  address: string
  home: string
  sandbox: Sandbox
  control: Client<typeof ControlService>
  /** A further client, with another key if given. */
  connect(key?: string): Sandbox
  adopt(): Promise<void>
  stop(): Promise<void>
}

/** Starts a daemon of sandboxes as a process of its own, with an empty home, and adopts it where it is told to. */
export async function startDaemonProcess({ adopt = true, environment = {} } = {}): Promise<DaemonProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-daemon-'))
  const home = mkdtempSync(join(tmpdir(), 'sandbox-home-'))
  const socket = join(folder, 'daemon.sock')
  const child = await inheriting(socket, home)
  const address = `unix:${socket}`
  const channel = keyedChannel({ address, apiKey: daemonKey, maxMessageBytes: 8_000_000, keepaliveMs: 20_000 })
  const control = channel.client(ControlService)
  const clients: Sandbox[] = []
  const connect = (key = apiKey) => {
    const client = connectSandbox({ grpcServerUrl: address, grpcApiKey: key })
    clients.push(client)
    return client
  }
  const adoptIt = async () =>
    void (await control.adopt({ sandboxId: 'sandbox-1', grpcApiKey: apiKey, environment }, system()))
  if (adopt) await adoptIt()
  return {
    process: child,
    address,
    home,
    control,
    connect,
    adopt: adoptIt,
    sandbox: connect(),
    stop: async () => {
      for (const client of clients) client.close()
      channel.close()
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGTERM')
        await once(child, 'exit')
      }
      rmSync(folder, { recursive: true, force: true })
      rmSync(home, { recursive: true, force: true })
    },
  }
}

async function inheriting(socket: string, home: string): Promise<ChildProcess> {
  const listener = createServer()
  await new Promise<void>((resolve) => listener.listen(`${socket}.new`, resolve))
  // Closing unlinks the name that it was given.
  renameSync(`${socket}.new`, socket)
  const { fd } = (listener as unknown as { _handle: { fd: number } })._handle
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const child = spawn(process.execPath, [program], {
    env: { PATH, NODE_COMPILE_CACHE, HOME: home, DAEMON_LISTEN: 'fd:3' },
    stdio: ['pipe', 'pipe', 'inherit', fd],
  })
  child.stdin!.end(`${daemonKey}\n`)
  await once(createInterface(child.stdout!), 'line')
  listener.close()
  return child
}
