import type { ObjectStore } from '@automation/objects'
import type { Metrics } from './metrics.ts'

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
    link: (key, terms) => store.link(key, terms),
    check: () => store.check(),
    close: () => store.close(),
  }
}
