import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { connectSandbox } from '@automation/client/sandbox'
import { CpuGroups } from '@automation/jail'
import { Environment } from '@automation/service'
import { silentLogger, until } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newApiKey, newSecret } from '../../src/api-key.ts'
import { grpcDaemons } from '../../src/drivers/daemons.ts'
import { SandboxFault, type SandboxOrder } from '../../src/drivers/driver.ts'
import { LocalDriver } from '../../src/drivers/local/local-driver.ts'
import { readSandboxConfig } from '../../src/service.ts'
import { driverConformance } from '../driver-conformance.ts'

process.env['CANARY_OF_THE_SERVICE'] = 'canary'

const image = { id: 'base', image: 'base', memoryMb: 256, warm: 0 }
const timeout = 60_000

/** A driver at this isolation level. */
function driverBehind(settings: Record<string, string>, tmpDir: string, daemons = grpcDaemons): LocalDriver {
  const given = {
    DATABASE_URL: 'postgres://none',
    ENCRYPTION_KEY: 'none',
    TMPDIR: tmpDir,
    ...settings,
  }
  const { local } = readSandboxConfig(new Environment(given))
  return new LocalDriver({ config: { ...local, homeMb: 64 }, daemons, logger: silentLogger })
}

function order(team = 'demo'): SandboxOrder {
  const id = randomUUID()
  return { id, team, image, daemonKey: newSecret(), grpcApiKey: newApiKey(id) }
}

/** Whether the machine gives this isolation level. */
async function holds(driver: LocalDriver): Promise<boolean> {
  const probe = order()
  try {
    await driver.create(probe)
    await driver.end(probe.id)
    return true
  } catch (error) {
    const [check] = await driver.ready()
    if (check?.detail?.includes('does not hold here') === true) return false
    throw error
  }
}

for (const level of ['namespaces', 'pod'])
  driverConformance(`the local driver at the level ${level}`, async () => {
    const tmpDir = mkdtempSync(join(tmpdir(), 'sandboxes-'))
    const driver = driverBehind({ ISOLATION: level }, tmpDir)
    if (!(await holds(driver))) return `the isolation level ${level} does not hold here`
    return {
      driver,
      image,
      close: async () => {
        expect(readdirSync(tmpDir)).toEqual([])
        rmSync(tmpDir, { recursive: true })
      },
    }
  })

describe('teams', () => {
  const tmpDir = mkdtempSync(join(tmpdir(), 'sandboxes-'))
  const driver = driverBehind({ ISOLATION: 'none' }, tmpDir)
  afterAll(async () => {
    await driver.stop()
    rmSync(tmpDir, { recursive: true })
  })

  test('without isolation that parts them only one has sandboxes here', { timeout }, async () => {
    await driver.create(order('first'))
    const second = driver.create(order('second'))
    await expect(second).rejects.toThrow(/parts no teams/)
    await expect(second).rejects.toBeInstanceOf(SandboxFault)
    await driver.create(order('first'))
    expect(await driver.list()).toHaveLength(2)
    for (const id of await driver.list()) await driver.end(id)
    await driver.create(order('second'))
    await expect(driver.create(order('first'))).rejects.toThrow(/parts no teams/)
  })
})

describe('the files of the daemon', () => {
  const tmpDir = mkdtempSync(join(tmpdir(), 'sandboxes-'))
  const driver = driverBehind({}, tmpDir)
  afterAll(async () => {
    await driver.stop()
    rmSync(tmpDir, { recursive: true })
  })

  test('are compiled for the sandboxes after the first, and none of them can change one', { timeout }, async () => {
    await driver.create(order())
    const compiled = async (): Promise<string[]> => {
      const ordered = order()
      const sandbox = connectSandbox({ grpcServerUrl: await driver.create(ordered), grpcApiKey: ordered.grpcApiKey })
      const change =
        'for f in /opt/automation/daemon/* /opt/automation/daemon/*/*; do test -f "$f" && echo "$f" && touch "$f" && echo changed; done'
      const { stdout } = await sandbox.run(['sh', '-c', change])
      sandbox.close()
      await driver.end(ordered.id)
      const files = stdout.split('\n').filter(Boolean)
      expect(files).toContain('/opt/automation/daemon/main.ts')
      expect(files).not.toContain('changed')
      return files.filter((path) => /\/daemon\/.*\//.test(path))
    }
    await until(async () => (await compiled()).length > 0, { everyMs: 200, what: 'the daemon is compiled' })
  })
})

const isCalled = (word: string) => (pid: number) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(word)
  } catch {
    return false // It has just gone.
  }
}

const groups = CpuGroups.find('sandbox')

describe.skipIf(groups === undefined)('the processes of a sandbox', () => {
  const tmpDir = mkdtempSync(join(tmpdir(), 'sandboxes-'))
  const driver = driverBehind({ ISOLATION: 'namespaces' }, tmpDir)
  const [weights = '', times = weights] = groups?.prefixes ?? []
  afterAll(async () => {
    await driver.stop()
    rmSync(tmpDir, { recursive: true })
  })

  test('have a group of their own, of less weight than the service', { timeout }, async ({ skip }) => {
    if (!(await holds(driver))) return skip()
    const ordered = order()
    const sandbox = connectSandbox({ grpcServerUrl: await driver.create(ordered), grpcApiKey: ordered.grpcApiKey })
    const mark = String(1e6 + process.pid)
    await sandbox.detach(['sleep', mark])
    const launcher = await until(() => launchers().find((each) => groups!.members(each).some(isCalled(mark))))
    const [file, usual] = existsSync(`${weights}${launcher}/cpu.shares`) ? ['cpu.shares', 1024] : ['cpu.weight', 100]
    expect(Number(readFileSync(`${weights}${launcher}/${file}`, 'latin1'))).toBeLessThan(usual)
    sandbox.close()
    await driver.end(ordered.id)
    await until(() => !existsSync(`${weights}${launcher}`) && !existsSync(`${times}${launcher}`), {
      what: 'the group goes with its sandbox',
    })
  })

  const launchers = () =>
    readdirSync(dirname(weights))
      .filter((name) => name.startsWith(basename(weights)))
      .map((name) => Number(name.slice(basename(weights).length)))
})

describe('a sandbox that shows no processes', () => {
  const tmpDir = mkdtempSync(join(tmpdir(), 'sandboxes-'))
  const driver = driverBehind({ ISOLATION: 'pod' }, tmpDir)
  afterAll(async () => {
    await driver.stop()
    rmSync(tmpDir, { recursive: true })
  })

  test('ends a command that takes too long, with what it started', { timeout }, async ({ skip }) => {
    if (!(await holds(driver))) return skip()
    const ordered = order()
    const sandbox = connectSandbox({ grpcServerUrl: await driver.create(ordered), grpcApiKey: ordered.grpcApiKey })
    const late = sandbox.run(['sh', '-c', 'sleep 60 & echo $! >started; wait'], { timeoutMs: 500 })
    expect(await late).toMatchObject({ timedOut: true, signal: 'SIGKILL' })
    const { exitCode } = await sandbox.run(['sh', '-c', 'kill -0 "$(cat started)"'])
    expect(exitCode).not.toBe(0)
    sandbox.close()
    await driver.end(ordered.id)
  })

  test('that halts its launcher is ended with all that runs in it', { timeout }, async ({ skip }) => {
    if (!(await holds(driver))) return skip()
    const ordered = order()
    const sandbox = connectSandbox({ grpcServerUrl: await driver.create(ordered), grpcApiKey: ordered.grpcApiKey })
    const mark = String(2e6 + process.pid)
    await sandbox.detach(['setsid', 'sleep', mark])
    const called = () =>
      readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && isCalled(`sleep\0${mark}`)(Number(pid)))
    const sleeping = await until(() => called()[0], { what: 'it runs' })
    // As one can, where the kernel does not part it from its launcher.
    process.kill(launcherOf(Number(sleeping)), 'SIGSTOP')
    sandbox.close()
    await driver.end(ordered.id)
    await until(() => called().length === 0, { what: 'all are gone', timeoutMs: 5000 })
  })

  const launcherOf = (pid: number): number => {
    const parent = Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
    return isCalled('/launcher.py')(parent) ? parent : launcherOf(parent)
  }
})

describe('sandboxes that are kept ready', () => {
  const tmpDir = mkdtempSync(join(tmpdir(), 'sandboxes-'))
  const driver = driverBehind({}, tmpDir)
  afterAll(() => rmSync(tmpDir, { recursive: true }))
  const ofWarm = (team: string) => ({ ...order(team), image: { ...image, warm: 1 } })
  const sockets = () =>
    readdirSync(tmpDir, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.socket'))

  test('are given once, belong to their team alone, and are made again', { timeout }, async () => {
    const first = ofWarm('first')
    await driver.create(first)
    let [second, address] = [first, '']
    const isOneKeptReady = async () => {
      const before = sockets().map((name) => `unix:${join(tmpDir, name)}`)
      second = ofWarm('second')
      address = await driver.create(second)
      return before.includes(address)
    }
    await until(isOneKeptReady, { everyMs: 500, what: 'one that was kept ready' })
    const sandbox = connectSandbox({ grpcServerUrl: address, grpcApiKey: second.grpcApiKey })
    const found = await sandbox.run(['sh', '-c', 'echo $SANDBOX_ID; ls -A'])
    expect(found.stdout).toBe(`${second.id}\n`)
    const otherClient = connectSandbox({ grpcServerUrl: address, grpcApiKey: first.grpcApiKey })
    await expect(otherClient.run(['true'])).rejects.toMatchObject({ code: 'sandbox_key' })
    for (const client of [sandbox, otherClient]) client.close()
    const given = (await driver.list()).length
    await until(() => sockets().length === given + 1, { what: 'the next is made ready' })
    await driver.stop()
    expect(readdirSync(tmpDir)).toEqual([])
  })
})

describe('one that was kept ready and can not be given', () => {
  const tmpDir = mkdtempSync(join(tmpdir(), 'sandboxes-'))
  const failing = new Set<string>()
  const daemons: typeof grpcDaemons = {
    ...grpcDaemons,
    adopt: async (daemon, ...others) => {
      if (failing.has(daemon.address)) throw new Error('the daemon is stuck')
      return grpcDaemons.adopt(daemon, ...others)
    },
  }
  const driver = driverBehind({}, tmpDir, daemons)
  afterAll(async () => {
    await driver.stop()
    rmSync(tmpDir, { recursive: true })
  })

  test('is replaced by a new one', { timeout }, async () => {
    const warm = () => ({ ...order(), image: { ...image, warm: 1 } })
    const sockets = () =>
      readdirSync(tmpDir, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.socket'))
    await driver.create(warm())
    await until(() => sockets().length === 2, { what: 'one is ready' })
    for (const name of sockets()) failing.add(`unix:${join(tmpDir, name)}`)
    const second = warm()
    const address = await driver.create(second)
    expect(failing).not.toContain(address)
    const sandbox = connectSandbox({ grpcServerUrl: address, grpcApiKey: second.grpcApiKey })
    expect((await sandbox.run(['sh', '-c', 'echo $SANDBOX_ID'])).stdout).toBe(`${second.id}\n`)
    sandbox.close()
  })
})

describe('the network of a sandbox without a way out', () => {
  const tmpDir = mkdtempSync(join(tmpdir(), 'sandboxes-'))
  const driver = driverBehind({ ISOLATION: 'namespaces', ISOLATION_NETWORK: 'host' }, tmpDir)
  const local = createServer((socket) => socket.end('of the host'))
  beforeAll(() => new Promise<void>((resolve) => local.listen(0, '127.0.0.1', resolve)))
  afterAll(async () => {
    local.close()
    await driver.stop()
    rmSync(tmpDir, { recursive: true })
  })

  test('is its loopback alone: neither the host nor a neighbour is on it', { timeout }, async ({ skip }) => {
    if (!(await holds(driver))) return skip()
    const [one, two] = [order('one'), order('two')]
    const opened = await Promise.all(
      [one, two].map(async (each) =>
        connectSandbox({ grpcServerUrl: await driver.create(each), grpcApiKey: each.grpcApiKey }),
      ),
    )
    const [first, second] = opened as [(typeof opened)[0], (typeof opened)[0]]
    const serve = `require('net').createServer((it) => it.end('own')).listen(8000)`
    await first.run(['sh', '-c', `node -e "${serve}" >/dev/null 2>&1 &`])
    const reach = (port: number) => [
      'node',
      '-e',
      `require('net').connect(${port}, '127.0.0.1').on('data', (it) => process.stdout.write(it)).on('error', (it) => console.log(it.code))`,
    ]
    await until(async () => (await first.run(reach(8000))).stdout === 'own', { timeoutMs: 20_000 })
    expect((await second.run(reach(8000))).stdout).toBe('ECONNREFUSED\n')
    expect((await first.run(reach((local.address() as AddressInfo).port))).stdout).toBe('ECONNREFUSED\n')
    for (const each of opened) each.close()
  })
})
