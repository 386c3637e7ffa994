import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatastoreService } from '@automation/contract/storage/v1/datastore'
import { PackageSetService } from '@automation/contract/storage/v1/package_set'
import { StorageService, type StorageObject } from '@automation/contract/storage/v1/storage'
import { TeamRemovalService } from '@automation/contract/storage/v1/team_removal'
import { UploadService } from '@automation/contract/storage/v1/upload'
import { uploadMessages } from '@automation/contract/uploads'
import { InProcessNetwork, type CallContext, type Client } from '@automation/rpc'
import { RunTokens } from '@automation/rpc/run-token'
import { Environment, type Part } from '@automation/service'
import { AuditBook, testContext, testDatabase, userContext, type TestDatabase } from '@automation/testing'
import pg from 'pg'
import { createStorage, readStorageConfig, storageSchema, type StorageConfig } from '../src/service.ts'

export const internalKey = 'an internal key of these tests that is long enough'

export interface Replica {
  part: Part
  storage: Client<typeof StorageService>
  uploads: Client<typeof UploadService>
  datastore: Client<typeof DatastoreService>
  packageSets: Client<typeof PackageSetService>
  removal: Client<typeof TeamRemovalService>
  /** What `/metrics` tells. */
  metrics(): Promise<string>
}

/** The storage service on a database and a folder of its own; on the S3 server that the environment names where there is one. */
export class StorageUnderTest {
  readonly sql: pg.Pool
  /** What it tells the catalog. */
  readonly audit = new AuditBook()
  readonly settings: Record<string, string>
  readonly folder: string
  readonly #database: TestDatabase
  readonly #replicas: Part[] = []

  private constructor(database: TestDatabase, folder: string, settings: Record<string, string>) {
    this.#database = database
    this.folder = folder
    this.settings = {
      DATABASE_URL: database.url,
      ENCRYPTION_KEY: 'for these tests alone',
      INTERNAL_KEY: internalKey,
      PUBLIC_URL: 'http://files.test',
      DATA_DIR: folder,
      ...(settings['S3_ENDPOINT'] === undefined && outside()),
      ...settings,
    }
    this.sql = new pg.Pool({ connectionString: database.url, options: '-c search_path=storage', max: 2 })
    this.sql.on('error', () => undefined)
  }

  static async open(settings: Record<string, string> = {}): Promise<StorageUnderTest> {
    const folder = await mkdtemp(join(tmpdir(), 'automation-storage-'))
    return new StorageUnderTest(await testDatabase(storageSchema), folder, settings)
  }

  async replica(more: Partial<StorageConfig> = {}): Promise<Replica> {
    const env = new Environment(this.settings)
    const config = { ...readStorageConfig(env), sweepEveryMs: 50, measureEveryMs: 50, ...more }
    env.check()
    const network = new InProcessNetwork()
    network.add([this.audit.service])
    const context = testContext(network)
    const part = createStorage(config, context)
    network.add(part.serves)
    this.#replicas.push(part)
    await part.start()
    return {
      part,
      storage: network.client(StorageService),
      uploads: network.client(UploadService),
      datastore: network.client(DatastoreService),
      packageSets: network.client(PackageSetService),
      removal: network.client(TeamRemovalService),
      metrics: () => context.metrics.metrics(),
    }
  }

  /** What the folder holds: kept contents, and those that are being written. */
  async files(): Promise<string[]> {
    const all = await readdir(this.folder, { recursive: true, withFileTypes: true })
    return all.filter((entry) => entry.isFile()).map(({ name }) => name)
  }

  /** What these files hold together. */
  async bytesHeld(): Promise<number> {
    const all = await readdir(this.folder, { recursive: true, withFileTypes: true })
    const files = all.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    // One may be removed meanwhile.
    const sizes = await Promise.all(
      files.map((path) =>
        stat(path).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
    )
    return sizes.reduce((sum, size) => sum + size, 0)
  }

  async used(team = 'demo'): Promise<number> {
    const { rows } = await this.sql.query<{ bytes: string }>('SELECT bytes FROM usage WHERE team = $1', [team])
    return Number(rows[0]?.bytes ?? 0)
  }

  async close(): Promise<void> {
    await Promise.all(this.#replicas.map((part) => part.stop(0)))
    await this.sql.end()
    await this.#database.drop()
    await rm(this.folder, { recursive: true })
  }
}

function outside(): Record<string, string> {
  const given = Object.entries(process.env).filter(([name]) => name.startsWith('S3_'))
  return process.env['S3_ENDPOINT'] ? (Object.fromEntries(given) as Record<string, string>) : {}
}

interface Upload {
  contentType?: string
  size?: number
}

export function upload(
  storage: Client<typeof StorageService>,
  name: string,
  content: string | Uint8Array | AsyncIterable<Uint8Array>,
  { contentType = '', size }: Upload = {},
  context: CallContext = userContext('demo'),
): Promise<StorageObject> {
  const known = size === undefined ? undefined : BigInt(size)
  const source =
    typeof content === 'string' ? [Buffer.from(content)] : content instanceof Uint8Array ? [content] : content
  return storage.uploadObject(uploadMessages({ name, contentType, size: known }, source), context)
}

export async function read(
  storage: Client<typeof StorageService>,
  { version, size }: StorageObject,
  context: CallContext = userContext('demo'),
): Promise<Buffer> {
  const answers = storage.readObject({ version, offset: 0n, length: size }, context)
  return Buffer.concat((await Array.fromAsync(answers)).map(({ chunk }) => chunk))
}

export async function names(storage: Client<typeof StorageService>, prefix = '', team = 'demo'): Promise<string[]> {
  const lists = await Array.fromAsync(storage.listObjects({ prefix }, userContext(team)))
  return lists.flatMap(({ objects }) => objects.map(({ name }) => name))
}

/** A call of a run, as a runner makes it; of the install of the set `installs` where that is given. */
export function runContext(team: string, expiresInS = 60, installs?: string): CallContext {
  const exp = Math.floor(Date.now() / 1000) + expiresInS
  const token = new RunTokens(internalKey).sign({
    team,
    executionId: 'e1',
    pool: 'default',
    depth: 0,
    createdBy: 'maker',
    initiatedBy: 'bob@example.com',
    installs,
    exp,
  })
  return { ...userContext(team), principal: { role: 'run', team: '', subject: 'run', name: 'run', token } }
}
