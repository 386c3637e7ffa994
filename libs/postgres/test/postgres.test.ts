import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync } from 'node:fs'
import { chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { findPostgres, startPostgres, type RunningPostgres } from '@automation/postgres'
import { silentLogger, until } from '@automation/testing'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

let dataDir: string
let running: RunningPostgres[] = []

// Making the files takes longer than all the rest, so most tests begin with a copy.
let made: string
beforeAll(async () => {
  made = await mkdtemp(join(tmpdir(), 'automation-made-'))
  await (await startPostgres({ dataDir: made, logger: silentLogger, durable: false })).stop()
})
afterAll(() => rm(made, { recursive: true }))

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'automation-pg-'))
  cpSync(made, dataDir, { recursive: true })
})
afterEach(async () => {
  await Promise.all(running.map((one) => one.stop()))
  running = []
  await rm(dataDir, { recursive: true })
})

async function start(folder = dataDir): Promise<RunningPostgres> {
  const one = await startPostgres({ dataDir: folder, logger: silentLogger, durable: false })
  running.push(one)
  return one
}

async function rows(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

async function postmaster(): Promise<number> {
  return Number((await readFile(join(dataDir, 'data/postmaster.pid'), 'utf8')).split('\n')[0])
}

function isRunning(pid: number): Promise<boolean> {
  return readFile(`/proc/${pid}/cmdline`, 'utf8').then(
    (command) => command !== '',
    () => false,
  )
}

/** A program of its own that starts it, killed at once when it is up. */
async function startedByVictim(): Promise<number> {
  const program = fileURLToPath(new URL('starter.ts', import.meta.url))
  const victim = spawn(process.execPath, [program, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(createInterface(victim.stdout!), 'line')
  const pid = await postmaster()
  process.kill(pid, 'SIGSTOP')
  victim.kill('SIGKILL')
  await once(victim, 'exit')
  return pid
}

test('it is reached through its socket and over TCP, and by nobody without the password', async () => {
  const { url, tcpUrl } = await start()
  for (const address of [url, tcpUrl]) {
    expect(await rows(address, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    for (const password of ['', 'postgres']) {
      const other = new URL(address)
      other.password = password
      await expect(rows(other.href, 'SELECT 1')).rejects.toThrow(/password/)
    }
  }
  expect((await stat(join(dataDir, 'password'))).mode & 0o777).toBe(0o600)
})

test('what was committed is there after a stop and a start, and other programs find it while it runs', async () => {
  const first = await start()
  await rows(first.url, 'CREATE TABLE kept AS SELECT 7 AS value')
  expect(await findPostgres(dataDir)).toBe(first.url)
  await first.stop()
  expect(await findPostgres(dataDir)).toBeUndefined()
  expect(await rows((await start()).url, 'SELECT value FROM kept')).toEqual([{ value: 7 }])
})

test('a server that dies is started again at the same address', async () => {
  const { url } = await start()
  process.kill(await postmaster(), 'SIGKILL')
  await until(() =>
    rows(url, 'SELECT 1').then(
      () => true,
      () => false,
    ),
  )
})

test('a server ends when its starter is killed', async () => {
  const pid = await startedByVictim()
  process.kill(pid, 'SIGCONT')
  await until(async () => !(await isRunning(pid)), { what: 'its end' })
})

test('a server that an earlier run left behind, frozen, is stopped first', async () => {
  const pid = await startedByVictim()
  expect(await isRunning(pid)).toBe(true)
  const { url } = await start()
  expect(await rows(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  expect(await isRunning(pid)).toBe(false)
})

test('a lock whose process number now belongs to a stranger is no hindrance, and the stranger lives on', async () => {
  await (await start()).stop()
  await writeFile(join(dataDir, 'data/postmaster.pid'), `${process.pid}\n${dataDir}/data\n0\n5432\n\n`)
  await start()
})

test('a first start that was cut off half way is done again', async () => {
  await rm(join(dataDir, 'data'), { recursive: true })
  await mkdir(join(dataDir, 'data.new/base'), { recursive: true })
  await writeFile(join(dataDir, 'password'), 'unused')
  expect(await rows((await start()).url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
})

test('a folder too deep for a socket is served over TCP', async () => {
  const deep = join(dataDir, 'd'.repeat(100))
  cpSync(made, deep, { recursive: true })
  const { url, tcpUrl } = await start(deep)
  expect(url).toBe(tcpUrl)
  expect(await rows(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
})

const isRoot = process.getuid?.() === 0

test.runIf(isRoot)(
  'as root, data of another user is served as that user, where that one reaches the program',
  async () => {
    const nobody = 65_534
    await rm(join(dataDir, 'data'), { recursive: true })
    await rm(join(dataDir, 'password'))
    await chown(dataDir, nobody, nobody)
    if (await anybodyMayEnter(import.meta.dirname)) {
      await start()
      expect((await stat(join(dataDir, 'data'))).uid).toBe(nobody)
    } else {
      await expect(start()).rejects.toThrow(/keep the program and DATA_DIR in folders that every user may enter/)
    }
  },
)

test.runIf(isRoot)('as root, folders that only root may enter are fine', async () => {
  const closed = join(dataDir, 'closed')
  await mkdir(closed, { mode: 0o700 })
  cpSync(made, join(closed, 'postgres'), { recursive: true })
  await start(join(closed, 'postgres'))
  expect((await stat(join(closed, 'postgres/data'))).uid).toBe(0)
})

test.runIf(isRoot)(
  'as root, a folder within one that another user alone may enter is refused, with what to do',
  async () => {
    const closed = join(dataDir, 'closed')
    await mkdir(closed, { mode: 0o700 })
    await chown(closed, 65_534, 65_534)
    await expect(start(join(closed, 'postgres'))).rejects.toThrow(/can not reach .*Run the service as an ordinary user/)
  },
)

async function anybodyMayEnter(folder: string): Promise<boolean> {
  const isOpen = ((await stat(folder)).mode & 0o001) !== 0
  return isOpen && (dirname(folder) === folder || (await anybodyMayEnter(dirname(folder))))
}

/** With a disk of 1 MB at a folder. */
const onSmallDisk = (folder: string) => ['-m', 'sh', '-c', 'mount -t tmpfs -o size=1m none "$0" && exec "$@"', folder]

test.runIf(isRoot && spawnSync('unshare', [...onSmallDisk(tmpdir()), 'true']).status === 0)(
  'a first start whose disk has no room says so, and what to do',
  async () => {
    const program = fileURLToPath(new URL('starter.ts', import.meta.url))
    const child = spawn('unshare', [...onSmallDisk(dataDir), process.execPath, program, dataDir], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
    expect(said).toContain('the disk of DATA_DIR is full. Make room there, or start with another DATA_DIR')
    expect(code).toBe(1)
  },
)

// As in a container of an ordinary user: root there is the only account, and may make no further namespace.
const asOnlyAccount = ['-Ur', 'sh', '-c', 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"', 'sh']

test.runIf(spawnSync('unshare', [...asOnlyAccount, 'true']).status === 0)(
  'root that can become nobody else is told what to do',
  async () => {
    const program = fileURLToPath(new URL('starter.ts', import.meta.url))
    const child = spawn('unshare', [...asOnlyAccount, process.execPath, program, dataDir], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
    expect(said).toMatch(/can not become another user.*Run the service as an ordinary user/)
    expect(said).not.toContain('launch.py')
    expect(code).toBe(1)
  },
)
