import { AuditRelay } from '@automation/audit'
import { TeamLimitService } from '@automation/contract/catalog/v1/team_limit'
import { asService, ownContext, served } from '@automation/rpc'
import { DatastoreService } from '@automation/contract/storage/v1/datastore'
import { PackageSetService } from '@automation/contract/storage/v1/package_set'
import { StorageService } from '@automation/contract/storage/v1/storage'
import { TeamRemovalService } from '@automation/contract/storage/v1/team_removal'
import { UploadService } from '@automation/contract/storage/v1/upload'
import { createObjectStore } from '@automation/objects'
import { RunTokens } from '@automation/rpc/run-token'
import { Periodic, TeamLimitRows, type Part, type PartContext } from '@automation/service'
import { askerReader, rightsReader } from './callers.ts'
import type { StorageConfig } from './config.ts'
import { countedStore, storageMetrics } from './metrics.ts'
import { Datastore } from './datastore.ts'
import { Objects } from './objects.ts'
import { datastoreService, packageSetService, storageService } from './rpc/storage-service.ts'
import { measured } from './rpc/measured.ts'
import { teamRemovalService } from './rpc/team-removal-service.ts'
import { uploadService } from './rpc/upload-service.ts'
import { PackageSets } from './package-sets.ts'
import { PartedUploads } from './parted-uploads.ts'
import { SignedUrls } from './signed-urls.ts'
import { countDue, readKept } from './store/sweep.ts'
import { Store } from './store/store.ts'
import { readUsage } from './store/usage.ts'
import { Sweeper } from './sweeper.ts'
import { inTurns } from './upload-turns.ts'
import { Uploads } from './uploads.ts'
import { Writings } from './writings.ts'

export { storageSchema } from './store/store.ts'
export { readStorageConfig, type StorageConfig } from './config.ts'

/** Storage: the objects of teams, the values that their runs share, and their sets of packages. Brings audit records to
 * the catalog. */
export function createStorage(config: StorageConfig, { neighbours, logger, metrics: registry }: PartContext): Part {
  const metrics = storageMetrics(registry)
  const counted = countedStore(createObjectStore(config.objects), metrics)
  const put = inTurns((...given) => counted.put(...given), config.uploadLagMs)
  const objects = counted.kind === 's3' ? { ...counted, put } : counted
  const store = new Store(config.databaseUrl, { logger, metrics: registry })
  const sweeper = new Sweeper({ store, objects, graceMs: config.replacedGraceMs })
  const sweeping = new Periodic('removing contents', config.sweepEveryMs, logger, async (signal) => {
    try {
      await packageSets.sweep(signal)
    } finally {
      await sweeper.sweep(signal)
    }
  })
  const teams = neighbours.client(TeamLimitService)
  const limitRows = new TeamLimitRows(logger, (knownRevision) =>
    teams.listTeamLimits({ knownRevision }, ownContext(asService('storage'), 5000)),
  )
  const maxBytesOf = (team: string) => limitRows.of(team, 'stored', config.teamMaxBytes)
  const writings = new Writings({ config, maxBytesOf, store, logger, abandoned: () => sweeping.soon() })
  const uploads = new Uploads({ config, maxBytesOf, store, objects, writings })
  const parted = new PartedUploads({
    config,
    maxBytesOf,
    store,
    objects,
    writings,
    logger,
    dropped: () => sweeping.soon(),
  })
  const packageSets = new PackageSets({ config, store, objects, writings, metrics, logger })
  const signedUrls = new SignedUrls(config.publicUrl, config.encryptionKeys)
  const kept = new Objects({ config, store, objects, sweeper, signedUrls, logger, dropped: () => sweeping.soon() })
  const tokens = new RunTokens(config.internalKey)
  const askerOf = askerReader(tokens)
  const query: Store['query'] = (statement) => store.query(statement)
  const audit = new AuditRelay({ service: 'storage', query, neighbours, metrics: registry, logger })
  const datastore = new Datastore(store, config.teamMaxKeys)
  const limitsOf = async (team: string) => {
    const { bytes, objects: count, parts, datastoreKeys } = await readUsage(store, team)
    return [
      { name: 'stored', allowed: BigInt(maxBytesOf(team)), inUse: BigInt(bytes) },
      { name: 'objects', allowed: BigInt(config.teamMaxObjects), inUse: BigInt(count + parts) },
      { name: 'datastoreKeys', allowed: BigInt(config.teamMaxKeys), inUse: BigInt(datastoreKeys) },
    ]
  }
  const measuring = new Periodic('measuring what is kept', config.measureEveryMs, logger, async () => {
    const { objects: count, bytes } = await readKept(store)
    metrics.kept(count, bytes)
    const due = await countDue(store)
    metrics.removals(due.count, due.lateMs)
  })
  const stopping = new AbortController()

  return {
    name: 'storage',
    serves: [
      measured(
        StorageService,
        storageService({ objects: kept, uploads, limitsOf, askerOf, publicUrl: config.publicUrl }),
        metrics,
      ),
      measured(UploadService, uploadService(parted, config.publicUrl), metrics),
      measured(DatastoreService, datastoreService(datastore, askerOf), metrics),
      served(TeamRemovalService, teamRemovalService(store, sweeper, objects)),
      measured(PackageSetService, packageSetService(packageSets, rightsReader(tokens)), metrics),
    ],
    async start() {
      await objects.open()
      await store.open(stopping.signal)
      sweeping.start()
      audit.start()
      void limitRows.start()
      measuring.start()
      measuring.soon()
    },
    async stop() {
      stopping.abort()
      await writings.close()
      await sweeping.stop()
      await audit.stop()
      await limitRows.stop()
      await measuring.stop()
      await store.close()
      await objects.close()
    },
    async ready() {
      return [await store.check(), await objects.check()]
    },
  }
}
