import { buffer } from 'node:stream/consumers'
import { Client } from 'minio'

/** What is in a bucket, as its owner sees it. */
export interface Bucket {
  /** Keys of objects, and of uploads that are not complete. */
  keys(): Promise<string[]>
  /** Keys of objects in whose contents this text stands. */
  keysOfContentsWith(text: string): Promise<string[]>
}

/** The bucket that S3_* name; undefined where they name none. */
export function bucketOf(env: Record<string, string | undefined>): Bucket | undefined {
  const { S3_ENDPOINT, S3_BUCKET = '', S3_REGION = 'us-east-1', S3_ACCESS_KEY, S3_SECRET_KEY } = env
  if (S3_ENDPOINT === undefined) return undefined
  const { protocol, hostname, port } = new URL(S3_ENDPOINT)
  const client = new Client({
    endPoint: hostname,
    ...(port !== '' && { port: Number(port) }),
    useSSL: protocol === 'https:',
    region: S3_REGION,
    accessKey: S3_ACCESS_KEY,
    secretKey: S3_SECRET_KEY,
  })
  const objects = async () => namesOf(await client.listObjectsV2(S3_BUCKET, '', true).toArray())
  return {
    async keys() {
      const incomplete = await client.listIncompleteUploads(S3_BUCKET, '', true).toArray()
      return [...(await objects()), ...incomplete.map(({ key }: { key: string }) => key)]
    },
    async keysOfContentsWith(text) {
      const found: string[] = []
      for (const key of await objects()) {
        // What is removed meanwhile has no content.
        const content = await client.getObject(S3_BUCKET, key).then(buffer, nothingWhereMissing)
        if (content.includes(text)) found.push(key)
      }
      return found
    },
  }
}

function namesOf(items: { name?: string }[]): string[] {
  return items.flatMap(({ name }) => name ?? [])
}

function nothingWhereMissing(error: Error & { code?: string }): Buffer {
  if (error.code === 'NoSuchKey') return Buffer.alloc(0)
  throw error
}
