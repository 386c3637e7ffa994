import { chmod, mkdtemp, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readCredential, writeCredential } from '../src/context/credentials.ts'

const target = { url: 'https://automation.example.com', team: 'demo' }
const path = process.env['PATH']
let folder = ''

// A keyring as its program behaves: what it is given by stdin is what it looks up.
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pas-keyring-'))
  const program = `#!/bin/sh\ncase $1 in store) cat > ${folder}/key;; lookup) cat ${folder}/key 2>/dev/null;; esac\n`
  await writeFile(join(folder, 'secret-tool'), program)
  await chmod(join(folder, 'secret-tool'), 0o755)
  process.env['PATH'] = `${folder}${delimiter}${path}`
})

afterAll(() => {
  process.env['PATH'] = path
})

test.runIf(process.platform === 'linux')(
  'with a keyring the token is stored encrypted, and is lost with the key',
  async () => {
    const env = { XDG_CONFIG_HOME: folder }
    const credential = { kind: 'apiToken', apiToken: 'sk-canary' } as const
    await writeCredential(env, target, credential, { keyring: true })
    const file = join(folder, 'pas/credentials.json')
    expect(await readFile(file, 'utf8')).not.toContain('sk-canary')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await readCredential(env, target)).toEqual(credential)
    await writeFile(join(folder, 'key'), Buffer.alloc(32).toString('base64'))
    await expect(readCredential(env, target)).rejects.toThrow('sign in again')
  },
)
