import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { WireNetwork } from '@automation/rpc/wire'
import { freePorts, until } from '@automation/testing'
import { encryptionKey } from './catalog-under-test.ts'

const internalKey = 'an internal key of these tests that is long enough'

/** A catalog as a process of its own that ends itself at a fail point, reached over the wire. */
export interface CatalogProcess {
  network: WireNetwork
  /** Resolves when the process is gone. */
  gone: Promise<unknown>
  close(): void
}

export async function startCatalogProcess(
  databaseUrl: string,
  failPoint: string,
  keys: { encryptionKey: string } = { encryptionKey },
): Promise<CatalogProcess> {
  const [grpc = 0, health = 0, nobody = 0] = await freePorts(3)
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
  const env = {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    DATABASE_URL: databaseUrl,
    ENCRYPTION_KEY: keys.encryptionKey,
    INTERNAL_KEY: internalKey,
    SERVICE_PORTS: `catalog=${grpc}`,
    HEALTH_PORT: String(health),
    SERVICE_ADDRESSES: ['execution', 'scheduler', 'storage'].map((name) => `${name}=127.0.0.1:${nobody}`).join(),
    FAIL_POINT: failPoint,
    LOG_LEVEL: 'error',
  }
  const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'inherit', 'inherit'] })
  const gone = once(child, 'exit')
  const addresses = { catalog: [`127.0.0.1:${grpc}`] }
  const network = new WireNetwork({ addresses, key: { internalKey }, maxMessageBytes: 2 ** 22 })
  const isGone = () => child.exitCode !== null || child.signalCode !== null
  const isReady = async () => (await fetch(`http://127.0.0.1:${health}/readyz`).catch(() => undefined))?.ok === true
  await until(async () => isGone() || (await isReady()), { what: 'the catalog is ready', timeoutMs: 50_000 })
  return {
    network,
    gone,
    close: () => {
      child.kill('SIGKILL')
      network.close()
    },
  }
}
