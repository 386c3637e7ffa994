import { resolve } from 'node:path'
import type { Environment } from '@automation/service'
import { DiskStore } from './disk.ts'
import type { ObjectStore } from './object-store.ts'
import { S3Store } from './s3.ts'

/** An S3 server and the bucket in it. */
export interface S3Config {
  endpoint: string
  /** Where users reach the same server; links lead there. */
  publicEndpoint: string
  bucket: string
  region: string
  accessKey: string
  secretKey: string
  /** A server that does not go on for so long is taken for away. */
  answerMs: number
  /** The same of removals: some callers have a minute for many. */
  removalAnswerMs: number
}

/** Where objects are kept: on an S3 server, else below a folder. */
export interface ObjectStoreConfig {
  s3?: S3Config
  folder: string
}

/** Reads S3_*, or DATA_DIR where S3_ENDPOINT is not set; faults are noted in `env`. */
export function readObjectStoreConfig(env: Environment): ObjectStoreConfig {
  const folder = resolve(env.text('DATA_DIR', '.data'), 'objects')
  const endpoint = env.url('S3_ENDPOINT')
  // All are read in any case, so that --print-config knows them.
  const given = env.url('S3_PUBLIC_ENDPOINT', endpoint)
  const bucket = env.text('S3_BUCKET')
  const region = env.text('S3_REGION', 'us-east-1')
  const accessKey = env.secret('S3_ACCESS_KEY')
  const secretKey = env.secret('S3_SECRET_KEY')
  if (endpoint === undefined) {
    for (const [name, value] of Object.entries({ S3_BUCKET: bucket, S3_PUBLIC_ENDPOINT: given }))
      if (value !== undefined) env.fault(name, 'is set, but S3_ENDPOINT is not')
    return { folder }
  }
  const publicEndpoint = given ?? endpoint
  const needed = (name: string, value: string | undefined) => {
    if (value === undefined) env.fault(name, 'must be set beside S3_ENDPOINT')
    return value ?? ''
  }
  for (const [name, url] of Object.entries({ S3_ENDPOINT: endpoint, S3_PUBLIC_ENDPOINT: publicEndpoint }))
    if (!isRoot(url)) env.fault(name, 'must be http://host:port or https://host, without a path')
  const s3 = {
    endpoint,
    publicEndpoint,
    bucket: needed('S3_BUCKET', bucket),
    region,
    accessKey: needed('S3_ACCESS_KEY', accessKey),
    secretKey: needed('S3_SECRET_KEY', secretKey),
    answerMs: 60_000,
    removalAnswerMs: 20_000,
  }
  return { folder, s3 }
}

function isRoot(url: string): boolean {
  if (!URL.canParse(url)) return true
  const { protocol, pathname, search, username } = new URL(url)
  return /^https?:$/.test(protocol) && pathname === '/' && search === '' && username === ''
}

/** The store that a configuration names. */
export function createObjectStore({ folder, s3 }: ObjectStoreConfig): ObjectStore {
  return s3 === undefined ? new DiskStore(folder) : new S3Store(s3)
}
