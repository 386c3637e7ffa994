import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { fromPypi } from '../system/fetched-programs.ts'
import { shared } from './shared-system.ts'

const folder = join(import.meta.dirname, '../oauth')
const environment = await fromPypi('authlib', join(folder, 'requirements.txt'))
const python = 'bin' in environment ? join(environment.bin, 'python3') : undefined
if ('fault' in environment) console.log(`left out: OAuth with Authlib, as ${environment.fault}`)

const [clientId = '', secret = ''] = atob(shared.main.apiToken.slice(3)).split(':')

async function run(method: string, scope: string, clientSecret = secret): Promise<Record<string, unknown>> {
  const credentials = { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret }
  const given = { env: { ...process.env, ...credentials, AUTHLIB_INSECURE_TRANSPORT: '1' }, timeout: 50_000 }
  const args = [join(folder, 'client.py'), shared.host, shared.main.team, method, scope]
  const { stdout } = await promisify(execFile)(python ?? '', args, given)
  return JSON.parse(stdout) as Record<string, unknown>
}

describe.runIf(python !== undefined).each(['client_secret_basic', 'client_secret_post'])(
  'Authlib, unmodified, with %s',
  (method) => {
    test('finds the metadata from the address of the API, accepts them, and gets a token that opens the API', async () => {
      const had = await run(method, 'read')
      expect(had).toMatchObject({ status: 200, scope: 'read', type: 'Bearer', slug: shared.main.team })
    })

    test('is told of a wrong secret in words of OAuth', async () => {
      const had = await run(method, '', 'x'.repeat(secret.length))
      expect(had).toMatchObject({ error: 'invalid_client', description: expect.any(String) as string })
    })
  },
)
