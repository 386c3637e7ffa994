import { apiKey, daemonKey, startDaemonProcess, type DaemonProcess } from '@automation/testing/daemon-process'
import type { GatewayConfig } from '../src/config.ts'
import { sandbox } from './contract-records.ts'
import { SANDBOX_ID } from './contract-servers.ts'
import { startGateway, type GatewayForTests } from './gateway-for-tests.ts'

/** A gateway whose team `demo` has one sandbox: a daemon as a process. */
export interface SandboxRest extends GatewayForTests {
  daemon: DaemonProcess
  /** Begins the addresses of the sandbox, below `{base_url}`. */
  one: string
}

export async function startSandboxRest(fixed: Partial<GatewayConfig> = {}): Promise<SandboxRest> {
  const daemon = await startDaemonProcess()
  const gateway = await startGateway({}, fixed)
  const { answers } = gateway.servers
  answers.set('getSandbox', () => ({ ...sandbox, grpcApiKey: apiKey }))
  answers.set('resolveKey', () => ({
    sandboxId: SANDBOX_ID,
    team: 'demo',
    daemonAddress: daemon.address,
    daemonKey,
  }))
  return {
    ...gateway,
    daemon,
    one: `/sandboxes/${SANDBOX_ID}`,
    stop: async () => {
      await gateway.stop()
      await daemon.stop()
    },
  }
}
