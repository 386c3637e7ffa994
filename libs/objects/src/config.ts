import { join, resolve } from 'node:path'
import type { Environment } from '@automation/service'

/** An S3 server and the bucket in it. */
export interface S3Config {
  endpoint: string
  /** Where users reach the same server; links lead there. */
  publicEndpoint: string
  bucket: string
  region: string
  accessKey: string
  secretKey: string
}

/** Where objects are kept: on an S3 server, else below a folder. */
export interface ObjectStoreConfig {
  s3?: S3Config
  folder: string
}

/** Reads S3_*, or DATA_DIR where S3_ENDPOINT is not set; faults are noted in `env`. */
export function readObjectStoreConfig(env: Environment): ObjectStoreConfig {
  const folder = resolve(env.text('OBJECTS_DIR', join(env.text('DATA_DIR', '.data'), 'objects')))
  const endpoint = env.url('S3_ENDPOINT')
  if (endpoint === undefined) {
    for (const name of ['S3_BUCKET', 'S3_PUBLIC_ENDPOINT'])
      if (env.text(name) !== undefined) env.fault(name, 'is set, but S3_ENDPOINT is not')
    return { folder }
  }
  const given = (name: string, value: string | undefined) => {
    if (value === undefined) env.fault(name, 'must be set beside S3_ENDPOINT')
    return value ?? ''
  }
  const publicEndpoint = env.url('S3_PUBLIC_ENDPOINT', endpoint)
  for (const [name, url] of Object.entries({ S3_ENDPOINT: endpoint, S3_PUBLIC_ENDPOINT: publicEndpoint }))
    if (!isRoot(url)) env.fault(name, 'must be http://host:port or https://host, without a path')
  const s3 = {
    endpoint,
    publicEndpoint,
    bucket: given('S3_BUCKET', env.text('S3_BUCKET')),
    region: env.text('S3_REGION', 'us-east-1'),
    accessKey: given('S3_ACCESS_KEY', env.secret('S3_ACCESS_KEY')),
    secretKey: given('S3_SECRET_KEY', env.secret('S3_SECRET_KEY')),
  }
  return { folder, s3 }
}

function isRoot(url: string): boolean {
  if (!URL.canParse(url)) return true
  const { protocol, pathname, search, username } = new URL(url)
  return /^https?:$/.test(protocol) && pathname === '/' && search === '' && username === ''
}
