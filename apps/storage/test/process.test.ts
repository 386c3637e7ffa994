import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { StorageService } from '@automation/contract/storage/v1/storage'
import { UploadService, UploadStatus } from '@automation/contract/storage/v1/upload'
import { uploadMessages } from '@automation/contract/uploads'
import type { Client } from '@automation/rpc'
import { WireNetwork } from '@automation/rpc/wire'
import { freePorts, refusal, until, userContext } from '@automation/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { internalKey, names, read, StorageUnderTest, upload } from './storage-under-test.ts'

const under = await StorageUnderTest.open()
/** A process of the service that is not killed. */
const other = await under.replica({ replacedGraceMs: 0 })
afterAll(() => under.close())

const piece = Buffer.alloc(64 * 1024, 7)
async function* content(mebibytes: number): AsyncGenerator<Uint8Array> {
  for (let n = 0; n < mebibytes * 16; n++) yield piece
}

// Half a gigabyte goes over the wire: a busy machine takes more than a minute for it.
const patient = { timeout: 240_000 }

test('an object far larger than the memory of the process passes both ways, with flat memory', patient, async () => {
  const service = await startStorageProcess(under.settings, ['--max-old-space-size=96'])
  try {
    await upload(service.storage, 'small', content(1), {}, userContext('large', {}, 200_000))
    const idleMb = service.peakMb()
    const sizeMb = 256
    const made = await upload(service.storage, 'large', content(sizeMb), {}, userContext('large', {}, 200_000))
    expect(made.size).toBe(BigInt(sizeMb * 2 ** 20))
    let bytes = 0
    const request = { version: made.version, offset: 0n, length: made.size }
    for await (const { chunk } of service.storage.readObject(request, userContext('large', {}, 200_000)))
      bytes += chunk.length
    expect(bytes).toBe(sizeMb * 2 ** 20)
    expect(service.peakMb() - idleMb).toBeLessThan(160)
    await service.storage.deleteObject({ name: 'large' }, userContext('large'))
  } finally {
    await service.kill()
    service.close()
  }
})

describe('a process that is killed in the middle of an upload leaves no half object', () => {
  test.each(['upload-piece:40', 'upload-stored'])('at %s', async (point) => {
    const context = userContext('killed')
    const first = await startStorageProcess({ ...under.settings, FAIL_POINT: point })
    const gone = once(first.child, 'exit')
    expect(await refusal(upload(first.storage, 'cut', content(4), {}, context))).toMatch(/unavailable|cancelled/)
    await gone
    first.close()
    const { storage } = other
    expect(await refusal(storage.getObject({ name: 'cut' }, context))).toBe('object_not_found')
    expect(await names(storage, '', 'killed')).toEqual([])
    // Its lease is over sooner than the test could wait for.
    await under.sql.query("UPDATE blobs SET due_at = now() WHERE team = 'killed' AND state = 1")
    await until(async () => (await under.used('killed')) === 0, { what: 'nothing counts' })
    await until(async () => (await under.sql.query("SELECT 1 FROM blobs WHERE team = 'killed'")).rows.length === 0)
    await until(async () => {
      const { rows } = await under.sql.query<{ id: string }>('SELECT id FROM blobs')
      const kept = new Set(rows.map(({ id }) => id))
      return (await under.files()).every((file) => kept.has(file))
    })
    await upload(storage, 'cut', content(1), {}, context)
    await storage.deleteObject({ name: 'cut' }, context)
  })
})

describe('an upload in parts goes on after its process was killed, and nothing else stays', () => {
  test.each([
    'upload-piece:20',
    'part-stored',
    'part-kept:2',
    'upload-claimed',
    'joined-piece:3',
    'upload-joined',
    'upload-completed',
  ])('at %s', async (point) => {
    const team = `killed-${point.replace(':', '-')}`
    const context = userContext(team)
    const parts = [randomBytes(2_000_000), randomBytes(1_000_000)]
    const putAll = async (of: Client<typeof UploadService>, id: string) => {
      const { parts: kept } = await of.getUpload({ id }, context)
      for (const [index, bytes] of parts.entries())
        if (!kept.some(({ number }) => number === index + 1))
          await of.putPart(uploadMessages({ id, number: index + 1 }, slices(bytes)), context)
    }
    const first = await startStorageProcess({ ...under.settings, FAIL_POINT: point })
    const gone = once(first.child, 'exit')
    const { id } = await first.uploads.createUpload({ name: 'cut' }, context)
    const work = async () => {
      await putAll(first.uploads, id)
      await first.uploads.completeUpload({ id }, context)
    }
    expect(await refusal(work())).toMatch(/unavailable|cancelled/)
    await gone
    first.close()

    const { storage, uploads } = other
    // Leases are over sooner than the test could wait for.
    await under.sql.query('UPDATE blobs SET due_at = now() WHERE team = $1 AND state = 1', [team])
    if ((await uploads.getUpload({ id }, context)).status !== UploadStatus.COMPLETED) await putAll(uploads, id)
    const object = await uploads.completeUpload({ id }, context)
    expect(Buffer.concat(parts).equals(await read(storage, object, context))).toBe(true)
    await until(async () => (await under.used(team)) === 3_000_000, { what: 'the object alone counts' })
    const rowsOf = async () => (await under.sql.query('SELECT FROM blobs WHERE team = $1', [team])).rows
    await until(async () => (await rowsOf()).length === 1, { what: 'the content of the object alone is left' })
    await until(async () => {
      const { rows } = await under.sql.query<{ id: string }>('SELECT id FROM blobs')
      const kept = new Set(rows.map((row) => row.id))
      return (await under.files()).every((file) => kept.has(file))
    })
    await storage.deleteObject({ name: 'cut' }, context)
  })
})

function* slices(bytes: Buffer): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 64 * 1024) yield bytes.subarray(at, at + 64 * 1024)
}

/** The storage service as a process of its own, reached over the wire. */
interface StorageProcess {
  child: ChildProcess
  storage: Client<typeof StorageService>
  uploads: Client<typeof UploadService>
  /** The most memory that it has had so far, in MiB. */
  peakMb(): number
  /** Resolves when the process is gone. */
  kill(): Promise<void>
  close(): void
}

async function startStorageProcess(settings: Record<string, string>, flags: string[] = []): Promise<StorageProcess> {
  const [grpc = 0, health = 0] = await freePorts(2)
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
  const env = {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    ...settings,
    SERVICE_PORTS: `storage=${grpc}`,
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
    uploads: network.client(UploadService),
    peakMb: () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
    close: () => network.close(),
  }
}
