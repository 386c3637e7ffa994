import { randomUUID } from 'node:crypto'
import { connectSandbox, type Sandbox } from '@automation/client/sandbox'
import { until } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newApiKey, newSecret } from '../src/api-key.ts'
import type { Image } from '../src/catalogue.ts'
import { SandboxFault, type Driver, type SandboxOrder } from '../src/drivers/driver.ts'

/** A driver under test. */
export interface DriverUnderTest {
  driver: Driver
  /** A small image that has sh and node. */
  image: Image
  /** Where its memory is over, the kernel chooses between the sandbox and its greedy commands alone. */
  hasCgroup?: boolean
  /** A home that is too full ends the sandbox some time later; otherwise the write is refused. */
  endsOverFullHome?: boolean
  /** An address of a daemon as this process reaches it. */
  reach?(address: string): string
  close(): Promise<void>
}

// Starting one may take long on a busy machine.
const patienceMs = 60_000

/** What every driver promises; each adapter runs this suite. `open` says why where it can't be had. */
export function driverConformance(name: string, open: () => Promise<DriverUnderTest | string>): void {
  describe(name, () => {
    let under: DriverUnderTest | undefined
    let absence: string | undefined
    const ended = new Map<string, string>()
    const open_ = async (order: SandboxOrder): Promise<Sandbox> => {
      const address = await under!.driver.create(order)
      const { reach = urlOf } = under!
      return connectSandbox({ grpcServerUrl: reach(address), grpcApiKey: order.grpcApiKey })
    }
    const order = (team = 'demo'): SandboxOrder => {
      const id = randomUUID()
      return { id, team, image: under!.image, daemonKey: newSecret(), grpcApiKey: newApiKey(id) }
    }

    beforeAll(async () => {
      const opened = await open()
      if (typeof opened === 'string') absence = opened
      else under = opened
      await under?.driver.start({ ended: (id, reason) => ended.set(id, reason) })
    }, patienceMs)
    afterAll(async () => {
      await under?.driver.stop()
      await under?.close()
    }, patienceMs)

    test(
      'a sandbox runs commands of its users in an empty home, and has their key alone',
      { timeout: patienceMs },
      async ({ skip }) => {
        if (under === undefined) return skip(absence)
        const ordered = order()
        const sandbox = await open_(ordered)
        const { stdout, exitCode } = await sandbox.run([
          'sh',
          '-c',
          'ls -A; echo "$SANDBOX_ID"; cd "$HOME" && node -p 6*7',
        ])
        expect({ stdout, exitCode }).toEqual({ stdout: `${ordered.id}\n42\n`, exitCode: 0 })
        sandbox.close()
        const { reach = urlOf } = under
        const otherClient = connectSandbox({
          grpcServerUrl: reach(await under.driver.create(ordered)),
          grpcApiKey: order().grpcApiKey,
        })
        await expect(otherClient.run(['true'])).rejects.toMatchObject({ code: 'sandbox_key' })
        otherClient.close()
        await under.driver.end(ordered.id)
      },
    )

    test('the same id once more is the same sandbox', { timeout: patienceMs }, async ({ skip }) => {
      if (under === undefined) return skip(absence)
      const ordered = order()
      const [one, two] = await Promise.all([under.driver.create(ordered), under.driver.create(ordered)])
      expect(two).toBe(one)
      expect((await under.driver.list()).filter((id) => id === ordered.id)).toHaveLength(1)
      await under.driver.end(ordered.id)
    })

    test(
      'neither keys nor the environment of the service are among what its commands find',
      { timeout: patienceMs },
      async ({ skip }) => {
        if (under === undefined) return skip(absence)
        const ordered = order()
        const sandbox = await open_(ordered)
        const look = `env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'; true`
        const { stdout } = await sandbox.run(['sh', '-c', look])
        expect(stdout).toContain(ordered.id)
        for (const secret of [ordered.daemonKey, ordered.grpcApiKey, 'CANARY_OF_THE_SERVICE'])
          expect(stdout).not.toContain(secret)
        sandbox.close()
        await under.driver.end(ordered.id)
      },
    )

    test(
      'ended, nothing of it is left; that is no error twice, nor for one that never was',
      { timeout: patienceMs },
      async ({ skip }) => {
        if (under === undefined) return skip(absence)
        const ordered = order()
        const sandbox = await open_(ordered)
        expect(await under.driver.list()).toContain(ordered.id)
        await sandbox.run(['sh', '-c', '(trap "" TERM; setsid sleep 1000) >/dev/null 2>&1 &'])
        await under.driver.end(ordered.id)
        await under.driver.end(ordered.id)
        await under.driver.end(randomUUID())
        expect(await under.driver.list()).not.toContain(ordered.id)
        await expect(sandbox.run(['true'], { timeoutMs: 1000 })).rejects.toBeInstanceOf(Error)
        sandbox.close()
        expect(ended.has(ordered.id)).toBe(false)
      },
    )

    test('ended while it starts, it never comes', { timeout: patienceMs }, async ({ skip }) => {
      if (under === undefined) return skip(absence)
      const ordered = order()
      const coming = under.driver.create(ordered).then(
        () => 'came',
        (error: unknown) => error,
      )
      await under.driver.end(ordered.id)
      expect(await coming).toBeInstanceOf(SandboxFault)
      expect(await under.driver.list()).not.toContain(ordered.id)
    })

    test('one whose daemon ends is gone, and why is told', { timeout: patienceMs }, async ({ skip }) => {
      if (under === undefined) return skip(absence)
      const ordered = order()
      const sandbox = await open_(ordered)
      await sandbox.run(['sh', '-c', 'kill -9 $PPID']).catch(() => undefined)
      sandbox.close()
      await until(() => ended.get(ordered.id), { timeoutMs: patienceMs })
      // In words: nothing of what a daemon logs.
      expect(ended.get(ordered.id)).toMatch(/^It ended by itself: [^{]+$/)
      expect(await under.driver.list()).not.toContain(ordered.id)
    })

    test(
      'one that takes more memory than it may ends alone, with the reason',
      { timeout: patienceMs },
      async ({ skip }) => {
        if (under === undefined) return skip(absence)
        const [greedy, neighbour] = [order(), order()]
        const [sandbox, other] = await Promise.all([open_(greedy), open_(neighbour)])
        // Each stays with what it got, also where its own limit comes before that of all.
        const eat = `const all = []; setInterval(() => { try { all.push(Buffer.alloc(8e6, 1)) } catch {} }, 5)`
        const children = Array.from({ length: 4 }, () => `node -e '${eat}' &`).join(' ')
        await sandbox.run(['sh', '-c', `${children} wait`]).catch(() => undefined)
        const left = under.hasCgroup === true ? await commandLines(sandbox) : undefined
        if (left === undefined)
          expect(await until(() => ended.get(greedy.id), { timeoutMs: patienceMs })).toMatch(/memory/i)
        else {
          expect(left).not.toContain('all.push')
          await under.driver.end(greedy.id)
        }
        sandbox.close()
        expect((await other.run(['echo', 'alive'])).stdout).toBe('alive\n')
        other.close()
        await under.driver.end(neighbour.id)
      },
    )

    test('its home holds what it may and no more', { timeout: 3 * patienceMs }, async ({ skip }) => {
      if (under === undefined) return skip(absence)
      const ordered = order()
      const sandbox = await open_(ordered)
      const fill = 'head -c 1000000000 /dev/zero > big'
      const done = await sandbox.run(['sh', '-c', fill]).catch(() => undefined)
      sandbox.close()
      if (under.endsOverFullHome === true)
        expect(await until(() => ended.get(ordered.id), { timeoutMs: 2 * patienceMs })).toMatch(/home/)
      else expect(done?.exitCode).not.toBe(0)
      await under.driver.end(ordered.id)
    })
  })
}

/** Of all its processes; undefined when it does not answer. */
function commandLines(sandbox: Sandbox): Promise<string | undefined> {
  return sandbox.run(['sh', '-c', 'cat /proc/[0-9]*/cmdline']).then(
    ({ stdout }) => stdout,
    () => undefined,
  )
}

function urlOf(address: string): string {
  return address.startsWith('unix:') ? address : `http://${address}`
}
