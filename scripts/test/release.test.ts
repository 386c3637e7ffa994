import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { appendFile, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { basesIn, pinBases } from '../release/bases.ts'
import { readKey } from '../release/checksums.ts'
import { withDigests } from '../release/chart.ts'
import { ownPlatform, unbuildable } from '../release/images.ts'
import { fileIn } from '../release/layout.ts'
import { publishScript } from '../release/publish.ts'
import { parts, platforms, trialOf } from '../release/release.ts'
import { versionFaults } from '../release/source.ts'
import { targets } from '../images/targets.ts'
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

test('the script that publishes finds its key by the path that it was called with, and without one publishes nothing', async () => {
  const caller = await folder()
  const made = join(caller, 'release')
  await mkdir(join(made, 'packages'), { recursive: true })
  await writeFile(join(made, 'publish'), publishScript('1.0.0', new Map([['gateway', digest]])), { mode: 0o755 })
  await writeFile(join(caller, 'cosign.key'), '')
  // What publishes writes down how it was called.
  const called = join(caller, 'called')
  const programs = join(caller, 'programs')
  await mkdir(programs)
  for (const name of ['skopeo', 'cosign', 'jq', 'helm', 'npm', 'twine', 'sha256sum'])
    await writeFile(join(programs, name), `#!/bin/sh\necho "${name} $*" >>'${called}'\necho 'Digest: ${digest}'\n`, {
      mode: 0o755,
    })
  const env = { ...process.env, PATH: `${programs}:${process.env['PATH']}` }
  const publish = (key: string) => run('./release/publish', ['registry.example.com/team', key], { cwd: caller, env })
  await expect(publish('no.key')).rejects.toThrow('there is no key in no.key')
  await expect(readFile(called)).rejects.toThrow('ENOENT')
  await publish('cosign.key')
  await publish('awskms:///alias/releases')
  const calls = await readFile(called, 'utf8')
  expect(calls).toMatch(
    new RegExp(`^cosign sign .* registry.example.com/team/charts/process-automation@${digest}$`, 'm'),
  )
  const keys = [...calls.matchAll(/--key (\S+)/g)].map(([, key]) => key)
  expect(new Set(keys)).toEqual(new Set([await realpath(join(caller, 'cosign.key')), 'awskms:///alias/releases']))
})

test('a release that lacks a part, an image, a platform or digests of its bases is a trial', () => {
  const whole = { only: [...parts], images: [...targets], platforms: [...platforms], localBases: false }
  expect(trialOf(whole)).toEqual([])
  expect(trialOf({ ...whole, only: ['images'] })).toEqual(['--only'])
  expect(trialOf({ ...whole, images: ['gateway'] })).toEqual(['--images'])
  expect(trialOf({ ...whole, platforms: ['linux/amd64'] })).toEqual(['--platforms'])
  expect(trialOf({ ...whole, localBases: true })).toEqual(['--local-bases'])
})

const builder = process.env['IMAGE_BUILDER']
// Without a program that builds images there is nothing to try.
describe.runIf(builder !== undefined)('a release', () => {
  let out = ''
  let again = ''
  let packages = ''
  let key = ''
  let commit = ''
  let answer = { code: 0, stdout: '', stderr: '' }

  beforeAll(async () => {
    // Of what is committed, as a release is.
    const clone = join(await folder(), 'clone')
    await run('git', ['clone', '--quiet', '--local', root, clone])
    commit = (await run('git', ['rev-parse', 'HEAD'], { cwd: clone })).stdout.trim()
    await symlink(join(root, 'node_modules'), join(clone, 'node_modules'))
    // What git does not see: a new file, and a changed one that it was told not to look at.
    await writeFile(join(clone, 'charts/process-automation/templates/planted.yaml'), '# planted\n')
    await writeFile(join(clone, 'clients/python/src/process_automation/planted.py'), '# planted\n')
    await run('git', ['update-index', '--skip-worktree', 'libs/process-types/svc.d.ts'], { cwd: clone })
    await appendFile(join(clone, 'libs/process-types/svc.d.ts'), '// planted\n')
    const { version } = JSON.parse(await readFile(join(clone, 'package.json'), 'utf8')) as { version: string }
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
    key = join(await folder(), 'key')
    await writeFile(key, privateKey.export({ type: 'pkcs8', format: 'pem' }))
    await writeFile(`${key}.pub`, publicKey.export({ type: 'spki', format: 'pem' }))
    const make = async (...more: string[]) => {
      const made = join(await folder(), 'release')
      const args = ['scripts/release.ts', '--version', version, '--out', made, '--local-bases', '--images', 'scheduler']
      const ended = await run(process.execPath, [...args, ...more], { cwd: clone, maxBuffer: 64 << 20 }).then(
        (said) => ({ code: 0, ...said }),
        (error: { code: number; stdout: string; stderr: string }) => error,
      )
      return { made, ended }
    }
    const some = isThere('helm') ? 'images,chart' : 'images'
    const images = async () => {
      const first = await make('--only', some, '--key', key, '--platforms', `${ownPlatform},linux/riscv64`)
      out = first.made
      answer = first.ended
      again = (await make('--only', some, '--platforms', ownPlatform)).made
    }
    const [, packed] = await Promise.all([images(), make('--only', 'packages')])
    packages = packed.made
  }, 900_000)

  const read = async (path: string) => JSON.parse(await readFile(join(out, path), 'utf8')) as unknown
  const digestIn = async (made: string) =>
    (JSON.parse(await readFile(join(made, 'images/index.json'), 'utf8')) as { manifests: { digest: string }[] })
      .manifests[0]!.digest

  test('of the same commit has the same digests', async () => {
    expect(await digestIn(again)).toBe(await digestIn(out))
  })

  test('has accounts in its images that no day is written to', async () => {
    const [shadow] = await fileIn(join(out, 'images'), await digestIn(out), 'etc/shadow')
    expect(shadow).toMatch(/^node:!::/m)
  })

  test('that lacks a platform says so, has all else, and nothing that would publish it', async () => {
    expect(answer.code).toBe(1)
    expect(answer.stderr).toContain('missing: images for linux/riscv64')
    expect(answer.stderr).toContain('a trial, by --only, --images, --platforms, --local-bases')
    expect(answer.stdout).toContain(`made: image scheduler for ${ownPlatform}\n`)
    await expect(readFile(join(out, 'publish'))).rejects.toThrow('ENOENT')
  })

  test('is of what is committed alone, whatever lies beside it', async () => {
    const archivesIn = async (made: string) =>
      [...(await readFile(join(made, 'SHA256SUMS'), 'utf8')).matchAll(/\S+\.(?:tgz|whl)$/gm)].map(([path]) =>
        join(made, path),
      )
    const ofPackages = await archivesIn(packages)
    expect(ofPackages).toHaveLength(5)
    const archives = [...ofPackages, ...(await archivesIn(out))]
    for (const path of archives) {
      const isWheel = path.endsWith('.whl')
      const { stdout } = isWheel
        ? await run('python3', ['-m', 'zipfile', '-l', path])
        : await run('tar', ['-xOf', path], { maxBuffer: 64 << 20 })
      expect(stdout, path).not.toContain('planted')
    }
  })

  test('says what is in an image, and from what commit it was made', async () => {
    const sbom = (await read('sbom/scheduler.cdx.json')) as { components: { purl: string }[] }
    const purls = sbom.components.map(({ purl }) => purl)
    expect(purls).toContainEqual(expect.stringMatching(/^pkg:npm\/%40grpc\/grpc-js@/))
    expect(purls).toContainEqual(
      expect.stringMatching(/^pkg:deb\/debian\/libc6@[^?]+\?arch=\w+&distro=debian-12&upstream=glibc$/),
    )
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
    const [, chart = ''] =
      / {2}(process-automation-\S+\.tgz)$/m.exec(await readFile(join(out, 'SHA256SUMS'), 'utf8')) ?? []
    const { stdout } = await run('helm', ['show', 'values', join(out, chart)])
    expect(stdout).toContain(`scheduler: ${await digestIn(out)}`)
    expect((await readFile(join(again, chart))).equals(await readFile(join(out, chart)))).toBe(true)
  })
})
