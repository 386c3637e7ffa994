import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { cp, mkdir, open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Transform } from 'node:stream'
import { text as buffered } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createZstdDecompress } from 'node:zlib'

interface Descriptor {
  mediaType: string
  digest: string
  size: number
  platform?: { os: string; architecture: string }
  annotations?: Record<string, string>
}

interface Index {
  schemaVersion: 2
  mediaType?: string
  manifests: Descriptor[]
}

const indexType = 'application/vnd.oci.image.index.v1+json'

/** An OCI image layout without images. */
export async function beginLayout(layout: string): Promise<void> {
  await mkdir(join(layout, 'blobs/sha256'), { recursive: true })
  await writeFile(join(layout, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}')
  await writeIndex(layout, { schemaVersion: 2, mediaType: indexType, manifests: [] })
}

/** Adds an image that is in a layout of its own for each platform, as one image of all of them; gives its digest. */
export async function addImage(
  layout: string,
  name: string,
  made: readonly { platform: string; folder: string }[],
): Promise<string> {
  const manifests: Descriptor[] = []
  for (const { platform, folder } of made) {
    const [only, ...others] = (await readIndex(folder)).manifests
    if (only === undefined || others.length > 0) throw new Error(`${name} for ${platform} is not one image`)
    const [os = '', architecture = ''] = platform.split('/')
    manifests.push({ ...(await copyImage(folder, layout, only)), platform: { os, architecture } })
  }
  const index = await writeBlob(layout, indexType, { schemaVersion: 2, mediaType: indexType, manifests })
  const all = await readIndex(layout)
  all.manifests.push({ ...index, annotations: { 'org.opencontainers.image.ref.name': name } })
  await writeIndex(layout, all)
  return index.digest
}

interface Manifest {
  config: Descriptor
  layers: Descriptor[]
}

/** Copies what an image consists of. Its history loses the comments, in which builders name what they have made on the way. */
async function copyImage(folder: string, layout: string, { mediaType, digest }: Descriptor): Promise<Descriptor> {
  const manifest = await readBlob<Manifest>(folder, digest)
  const config = await readBlob<{ history?: { comment?: string }[] }>(folder, manifest.config.digest)
  for (const step of config.history ?? []) delete step.comment
  for (const layer of manifest.layers) await cp(blobAt(folder, layer.digest), blobAt(layout, layer.digest))
  const written = await writeBlob(layout, manifest.config.mediaType, config)
  return writeBlob(layout, mediaType, { ...manifest, config: written })
}

/** A file of an image, as the last layer with it has it, on each of its platforms. */
export async function fileIn(layout: string, digest: string, path: string): Promise<string[]> {
  const { manifests } = await readBlob<Index>(layout, digest)
  const texts = await Promise.all(
    manifests.map(async (one) => {
      const { layers } = await readBlob<Manifest>(layout, one.digest)
      for (const layer of layers.toReversed()) {
        const text = await fileInLayer(blobAt(layout, layer.digest), path)
        if (text !== undefined) return [text]
      }
      return []
    }),
  )
  return texts.flat()
}

/** Undefined where the layer has none. */
async function fileInLayer(blob: string, path: string): Promise<string | undefined> {
  const tar = spawn('tar', ['-xO', path], { stdio: ['pipe', 'pipe', 'ignore'] })
  // It closes what it reads from once it knows enough.
  const [text] = await Promise.all([
    buffered(tar.stdout),
    pipeline(createReadStream(blob), ...(await decompressed(blob)), tar.stdin).catch(() => undefined),
  ])
  return text === '' ? undefined : text
}

/** What makes a tar of a layer, by its first bytes. */
async function decompressed(blob: string): Promise<Transform[]> {
  const file = await open(blob)
  try {
    const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0)
    if (buffer[0] === 0x1f) return [createGunzip()]
    return buffer.readUInt32LE() === 0xfd_2f_b5_28 ? [createZstdDecompress()] : []
  } finally {
    await file.close()
  }
}

const blobAt = (layout: string, digest: string) => join(layout, 'blobs', digest.replace(':', '/'))

async function readBlob<Value>(layout: string, digest: string): Promise<Value> {
  return JSON.parse(await readFile(blobAt(layout, digest), 'utf8')) as Value
}

async function writeBlob(layout: string, mediaType: string, value: object): Promise<Descriptor> {
  const bytes = Buffer.from(JSON.stringify(value))
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
  await writeFile(blobAt(layout, digest), bytes)
  return { mediaType, digest, size: bytes.length }
}

async function readIndex(layout: string): Promise<Index> {
  return JSON.parse(await readFile(join(layout, 'index.json'), 'utf8')) as Index
}

const writeIndex = (layout: string, index: Index) => writeFile(join(layout, 'index.json'), JSON.stringify(index))
