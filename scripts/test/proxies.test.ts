import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isThere } from '../charts/render.ts'

const run = promisify(execFile)
const guide = new URL('../../docs/guides/operating/proxies.md', import.meta.url)

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'automation-proxies-'))
  const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const files = ['-out', join(folder, 'cert.pem'), '-keyout', join(folder, 'cert.pem.key')]
  await run('openssl', [...kind, '-subj', '/CN=localhost', ...files])
})
afterAll(() => rm(folder, { recursive: true }))

/** The blocks of one kind in the guide. */
async function blocks(kind: string): Promise<string[]> {
  const found = [...(await readFile(guide, 'utf8')).matchAll(new RegExp('^```' + kind + '\\n(.*?)^```', 'gms'))]
  return found.map(([, text = '']) => text)
}

async function write(text: string): Promise<string> {
  const file = join(folder, 'configuration')
  await writeFile(file, text)
  return file
}

// Where a proxy is not on the PATH there is nothing to try.
test.runIf(isThere('nginx'))('nginx takes the configuration of the guide, also below a path', async () => {
  const [servers = '', prefix = ''] = await blocks('nginx')
  // nginx takes the port to see that it can.
  const all = servers
    .replaceAll('listen 443', `listen unix:${folder}/socket`)
    .replace('  location', `${prefix}  location`)
  const certificate = `ssl_certificate ${folder}/cert.pem; ssl_certificate_key ${folder}/cert.pem.key;`
  const bodies = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const file = await write(
    `pid ${folder}/pid;\nevents {}\nhttp {\naccess_log off;\n${bodies.join('\n')}\n${certificate}\n${all}}\n`,
  )
  const { stderr } = await run('nginx', ['-t', '-p', folder, '-e', 'stderr', '-c', file])
  expect(stderr).toContain('test is successful')
  expect(stderr).not.toContain('[warn]')
})

test.runIf(isThere('haproxy'))('HAProxy takes the configuration of the guide', async () => {
  const [text = ''] = await blocks('haproxy')
  const file = await write(text.replace('/etc/haproxy/certificates', `${folder}/cert.pem`))
  const { stdout, stderr } = await run('haproxy', ['-c', '-f', file])
  expect(stdout + stderr).not.toMatch(/ALERT|WARNING/)
})

test.runIf(isThere('caddy'))('Caddy takes the configuration of the guide', async () => {
  const [text = ''] = await blocks('caddyfile')
  const { stdout } = await run('caddy', ['adapt', '--adapter', 'caddyfile', '--config', await write(text)])
  for (const port of [8080, 8081, 8082, 8083]) expect(stdout).toContain(`127.0.0.1:${port}`)
})
