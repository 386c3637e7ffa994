import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { StorageService } from '@automation/contract/storage/v1/storage'
import type { Client } from '@automation/rpc'
import { WireNetwork } from '@automation/rpc/wire'
import { freePorts, until } from '@automation/testing'
import { internalKey } from './storage-under-test.ts'

/** The storage service as a process of its own, reached over the wire. */
export interface StorageProcess {
  child: ChildProcess
  storage: Client<typeof StorageService>
  /** The most memory that it has had so far, in MiB. */
  peakMb(): number
  /** Resolves when the process is gone. */
  kill(): Promise<void>
  close(): void
}

export async function startStorageProcess(
  settings: Record<string, string>,
  flags: string[] = [],
): Promise<StorageProcess> {
  const [grpc = 0, health = 0] = await freePorts(2)
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
  const env = {
    PATH: process.env['PATH'],
    ...settings,
    GRPC_PORT: String(grpc),
    HEALTH_PORT: String(health),
    LOG_LEVEL: 'warn',
  }
  const child = spawn(process.execPath, [...flags, main], { env, stdio: ['ignore', 'inherit', 'inherit'] })
  const ended = once(child, 'exit')
  await until(async () => (await fetch(`http://127.0.0.1:${health}/readyz`).catch(() => undefined))?.ok === true, {
    what: 'the storage process is ready',
    timeoutMs: 50_000,
  })
  const addresses = { storage: [`127.0.0.1:${grpc}`] }
  const network = new WireNetwork({ addresses, key: { internalKey }, maxMessageBytes: 2 ** 24 })
  return {
    child,
    storage: network.client(StorageService),
    peakMb: () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
    close: () => network.close(),
  }
}
