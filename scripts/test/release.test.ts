import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { basesIn, pinBases } from '../release/bases.ts'
import { readKey } from '../release/checksums.ts'
import { withDigests } from '../release/chart.ts'
import { ownPlatform, unbuildable } from '../release/images.ts'
import { publishScript } from '../release/publish.ts'
import { versionFaults } from '../release/source.ts'
import { isThere } from '../charts/render.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')
const digest = `sha256:${'a'.repeat(64)}`
const folders: string[] = []

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'release-test-'))
  folders.push(made)
  return made
}
afterAll(() => Promise.all(folders.map((one) => rm(one, { recursive: true, force: true }))))

test('every base image of the Dockerfile is pinned by its digest, and no stage of its own', async () => {
  const dockerfile = await readFile(join(root, 'Dockerfile'), 'utf8')
  const bases = basesIn(dockerfile)
  expect(bases.map((name) => name.split(':')[0])).toEqual(['node', 'debian'])
  const pinned = pinBases(dockerfile, new Map(bases.map((name) => [name, digest])))
  expect(basesIn(pinned)).toEqual(bases.map((name) => `${name}@${digest}`))
  expect(pinned.replaceAll(`@${digest}`, '')).toBe(dockerfile)
})

test('a commit whose files say another version is no release, and the files are named', async () => {
  const files = { 'Chart.yaml': 'version: 1.0.0\nappVersion: 1.1.0\n', 'package.json': '{\n  "version": "1.1.0",\n}' }
  expect(versionFaults('1.1.0', files)).toEqual(['Chart.yaml says 1.0.0'])
  expect(versionFaults('1.1.0', { 'package.json': '{}' })).toEqual(['package.json says no version'])
})

test('the chart that is packaged names the digests of its images', async () => {
  const values = await readFile(join(root, 'charts/process-automation/values.yaml'), 'utf8')
  expect(withDigests(values, new Map([['gateway', digest]]))).toContain(`  digests:\n    gateway: ${digest}\n`)
})

test('a builder that can build for its own machine alone says what to do for other platforms', () => {
  expect(unbuildable('images', ownPlatform)).toBeUndefined()
  expect(unbuildable('docker', 'linux/other')).toBeUndefined()
  expect(unbuildable('images', 'linux/other')).toMatch(/linux\/other.*docker buildx, or on a machine of that platform/)
})

test('a key that cosign could not verify by is refused', async () => {
  const file = join(await folder(), 'key.pem')
  await writeFile(file, generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }))
  await expect(readKey(file)).rejects.toThrow('must be a key of the curve P-256')
})

test('the script that publishes is one that a shell reads, and signs each image by its digest', async () => {
  const file = join(await folder(), 'publish')
  await writeFile(file, publishScript('1.0.0', new Map([['gateway', digest]])))
  await run('sh', ['-n', file])
  expect(await readFile(file, 'utf8')).toContain(`publish gateway ${digest}`)
})

const builder = process.env['IMAGE_BUILDER']
// Without a program that builds images there is nothing to try.
describe.runIf(builder !== undefined)('a release', () => {
  let out = ''
  let again = ''
  let key = ''
  let commit = ''
  let answer = { code: 0, stderr: '' }

  beforeAll(async () => {
    // Of what is committed, as a release is.
    const clone = join(await folder(), 'clone')
    await run('git', ['clone', '--quiet', '--local', root, clone])
    commit = (await run('git', ['rev-parse', 'HEAD'], { cwd: clone })).stdout.trim()
    await symlink(join(root, 'node_modules'), join(clone, 'node_modules'))
    const { version } = JSON.parse(await readFile(join(clone, 'package.json'), 'utf8')) as { version: string }
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
    key = join(await folder(), 'key')
    await writeFile(key, privateKey.export({ type: 'pkcs8', format: 'pem' }))
    await writeFile(`${key}.pub`, publicKey.export({ type: 'spki', format: 'pem' }))
    const make = async (...more: string[]) => {
      const made = join(await folder(), 'release')
      const args = ['scripts/release.ts', '--version', version, '--out', made, '--local-bases', '--images', 'scheduler']
      const ended = await run(process.execPath, [...args, ...more], { cwd: clone, maxBuffer: 64 << 20 }).then(
        ({ stderr }) => ({ code: 0, stderr }),
        (error: { code: number; stderr: string }) => error,
      )
      return { made, ended }
    }
    const chart = isThere('helm') ? ['--only', 'images,chart'] : ['--only', 'images']
    const first = await make(...chart, '--key', key, '--platforms', `${ownPlatform},linux/riscv64`)
    out = first.made
    answer = first.ended
    again = (await make('--only', 'images', '--platforms', ownPlatform)).made
  }, 900_000)

  const read = async (path: string) => JSON.parse(await readFile(join(out, path), 'utf8')) as unknown
  const digestIn = async (made: string) =>
    (JSON.parse(await readFile(join(made, 'images/index.json'), 'utf8')) as { manifests: { digest: string }[] })
      .manifests[0]!.digest

  test('of the same commit has the same digests', async () => {
    expect(await digestIn(again)).toBe(await digestIn(out))
  })

  test('that lacks a platform says so, has all else, and nothing that would publish it', async () => {
    expect(answer.code).toBe(1)
    expect(answer.stderr).toContain('missing: images for linux/riscv64')
    await expect(readFile(join(out, 'publish'))).rejects.toThrow('ENOENT')
  })

  test('says what is in an image, and from what commit it was made', async () => {
    const sbom = (await read('sbom/scheduler.cdx.json')) as { components: { purl: string }[] }
    expect(sbom.components.map(({ purl }) => purl).join('\n')).toMatch(/pkg:npm\/%40grpc\/grpc-js@/)
    const provenance = (await read('provenance.json')) as { subject: object[] }
    expect(provenance.subject).toContainEqual({
      name: 'process-automation-scheduler',
      digest: { sha256: (await digestIn(out)).slice(7) },
    })
    expect(JSON.stringify(provenance)).toContain(`{"gitCommit":"${commit}"}`)
  })

  test('is verified by sha256sum and by the signature of its checksums', async () => {
    await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: out })
    const signature = Buffer.from(await readFile(join(out, 'SHA256SUMS.sig'), 'utf8'), 'base64')
    await writeFile(`${key}.sig`, signature)
    const verify = ['dgst', '-sha256', '-verify', `${key}.pub`, '-signature', `${key}.sig`]
    expect((await run('openssl', [...verify, join(out, 'SHA256SUMS')])).stdout).toContain('Verified OK')
  })

  test.runIf(isThere('helm'))('has the chart with the digests of its images', async () => {
    const [chart] = (await readFile(join(out, 'SHA256SUMS'), 'utf8')).match(/process-automation-\S+\.tgz/) ?? []
    const { stdout } = await run('helm', ['show', 'values', join(out, chart!)])
    expect(stdout).toContain(`scheduler: ${await digestIn(out)}`)
  })
})
