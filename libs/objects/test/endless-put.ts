import { DiskStore } from '../src/index.ts'

// Writes one object for ever: `endless-put.ts FOLDER KEY`.
const [, , folder = '', key = ''] = process.argv
const store = new DiskStore(folder)
await store.open()
await store.put(key, endless())

async function* endless(): AsyncGenerator<Uint8Array> {
  for (;;) yield await new Promise<Buffer>((resolve) => setTimeout(resolve, 5, Buffer.alloc(1000)))
}
