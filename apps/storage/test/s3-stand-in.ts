import { createServer } from 'node:http'
import { listening } from '@automation/testing/listening'

/** A server of S3 that keeps the keys of what is put, and no content; it acts on a request when `ready` says so. */
export async function s3StandIn(ready?: (method: string, key: string) => Promise<void>) {
  const keys = new Set<string>()
  const server = createServer((request, response) => {
    const { method = '', url = '' } = request
    const key = url.split('?')[0]!.split('/').at(-1)!
    request.resume().on('end', async () => {
      await ready?.(method, key)
      if (method === 'PUT') keys.add(key)
      if (method === 'DELETE') keys.delete(key)
      response.writeHead(method === 'DELETE' ? 204 : 200, { ETag: '"0"' })
      const empty = '<ListMultipartUploadsResult><IsTruncated>false</IsTruncated></ListMultipartUploadsResult>'
      response.end(method === 'GET' ? empty : '')
    })
  })
  const { url, close } = await listening(server)
  const settings = { S3_ENDPOINT: url, S3_BUCKET: 'bucket', S3_ACCESS_KEY: 'access', S3_SECRET_KEY: 'a secret' }
  return { keys, settings, close }
}
