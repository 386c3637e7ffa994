import type { FailureKind } from '@automation/errors'
import type { ObjectStore } from '@automation/objects'
import type { Registry } from '@automation/service'
import { Counter, Gauge, Histogram } from 'prom-client'

/** How a call ended; `cancelled`: its caller went. */
export type CallEnd = 'ok' | 'cancelled' | FailureKind

export interface Metrics {
  moved(direction: 'in' | 'out', bytes: number): void
  called(call: string, outcome: CallEnd, ms: number): void
  /** Something was larger than it may be, alone or with all that its team has. */
  refused(code: string): void
  /** What all teams keep. */
  kept(objects: number, bytes: number): void
  /** How many contents are to be removed, and how long the first of them is due, in ms. */
  removals(count: number, lateMs: number): void
  /** A set of packages of so many bytes is there no more. */
  setRemoved(why: 'unused' | 'damaged', bytes: number): void
}

/** The metrics of storage, in the registry of the process. */
export function storageMetrics(registry: Registry): Metrics {
  const registers = [registry]
  const moved = new Counter({
    name: 'storage_bytes_total',
    help: 'Bytes that went into the object store, and out of it, through this replica',
    labelNames: ['direction'],
    registers,
  })
  const seconds = new Histogram({
    name: 'storage_call_seconds',
    help: 'From a call to its end; of uploads and downloads that is their last byte',
    labelNames: ['call', 'outcome'],
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5, 30, 300],
    registers,
  })
  const refused = new Counter({
    name: 'storage_refused_total',
    help: 'Uploads and values that were too large, alone or with all that their team has',
    labelNames: ['code'],
    registers,
  })
  const objects = new Gauge({ name: 'storage_objects', help: 'Objects that teams keep', registers })
  const counted = 'Bytes that count against teams: objects, sets of packages, and uploads that are under way'
  const bytes = new Gauge({ name: 'storage_used_bytes', help: counted, registers })
  const due = 'Contents of deleted objects that are still to be removed'
  const removals = new Gauge({ name: 'storage_removals_waiting', help: due, registers })
  const sinceWhen = 'Seconds since the oldest content that is to be removed was due'
  const removalsLate = new Gauge({ name: 'storage_removals_late_seconds', help: sinceWhen, registers })
  const setsRemoved = new Counter({
    name: 'storage_package_sets_removed_total',
    help: 'Sets of packages that were removed: nothing referred to them, or they were damaged',
    labelNames: ['why'],
    registers,
  })
  const setBytesRemoved = new Counter({
    name: 'storage_package_set_bytes_removed_total',
    help: 'Packed bytes of sets that were removed',
    labelNames: ['why'],
    registers,
  })
  return {
    moved: (direction, count) => moved.inc({ direction }, count),
    called: (call, outcome, ms) => seconds.observe({ call, outcome }, ms / 1000),
    refused: (code) => refused.inc({ code }),
    kept(count, used) {
      objects.set(count)
      bytes.set(used)
    },
    removals(count, lateMs) {
      removals.set(count)
      removalsLate.set(lateMs / 1000)
    },
    setRemoved(why, size) {
      setsRemoved.inc({ why })
      setBytesRemoved.inc({ why }, size)
    },
  }
}

/** The same store, whose bytes are counted as they go in and come out. */
export function countedStore(store: ObjectStore, metrics: Metrics): ObjectStore {
  async function* passing(content: AsyncIterable<Uint8Array>, direction: 'in' | 'out') {
    for await (const piece of content) {
      metrics.moved(direction, piece.byteLength)
      yield piece
    }
  }
  return {
    kind: store.kind,
    open: () => store.open(),
    put: (key, content, options) => store.put(key, passing(content, 'in'), options),
    read: (key, range, signal) => passing(store.read(key, range, signal), 'out'),
    size: (key) => store.size(key),
    remove: (key) => store.remove(key),
    removeAll: (prefix) => store.removeAll(prefix),
    link: (key, terms) => store.link(key, terms),
    check: () => store.check(),
    close: () => store.close(),
  }
}
