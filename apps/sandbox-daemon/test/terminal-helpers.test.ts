import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { until } from '@automation/testing'
import { afterAll, describe, expect, test } from 'vitest'

const sources = fileURLToPath(new URL('../src/commands', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'pty-'))

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** As in images; undefined where there is no compiler. */
function compiled(): string[] | undefined {
  try {
    execFileSync('cc', ['-O2', '-Wall', '-Werror', '-o', join(folder, 'pty'), join(sources, 'pty.c')])
    return [join(folder, 'pty')]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return undefined
  }
}

const helpers: [string, string[] | undefined][] = [
  ['pty.py', ['python3', '-I', '-S', join(sources, 'pty.py')]],
  ['pty.c', compiled()],
]

describe.each(helpers.filter((one): one is [string, string[]] => one[1] !== undefined))('%s', (_, helper) => {
  /** Starts a program on a terminal of 30 rows and 100 columns. */
  function start(...program: string[]) {
    const [path = '', ...words] = helper
    const child = spawn(path, [...words, '30', '100', ...program], { stdio: ['pipe', 'pipe', 'inherit', 'pipe'] })
    const control = child.stdio[3] as Duplex
    let shown = ''
    child.stdout!.on('data', (bytes: Buffer) => (shown += bytes.toString()))
    const ended = once(child, 'exit') as Promise<[number | null, string | null]>
    const said = once(control, 'data').then(([bytes]) => (bytes as Buffer)[0])
    return { child, control, ended, said, shown: () => shown, type: (text: string) => child.stdin!.write(text) }
  }

  test('a program has a terminal of its size, is typed to, and ends it as it ends', async () => {
    const { type, shown, ended, said } = start(
      'sh',
      '-c',
      'test -t 0 && test -t 2 && stty size; read word; echo "<$word>"; exit 7',
    )
    expect(await said).toBe(0)
    await until(() => shown().includes('30 100'))
    type('hello\n')
    expect(await ended).toEqual([7, null])
    expect(shown()).toContain('<hello>')
  })

  test('a size that changes is told to the program', async () => {
    const script = 'trap "stty size; exit 0" WINCH; echo ready; while :; do sleep 0.05; done'
    const { control, shown, ended } = start('sh', '-c', script)
    await until(() => shown().includes('ready'))
    control.write(Buffer.from([0, 50, 1]))
    control.write(Buffer.from([44]))
    expect(await ended).toEqual([0, null])
    expect(shown()).toContain('50 300')
  })

  test('the end of what is typed is an end of input', async () => {
    const { child, shown, ended } = start('cat')
    child.stdin!.end('typed\n')
    expect(await ended).toEqual([0, null])
    expect(shown().match(/typed/g)).toHaveLength(2)
  })

  test('Ctrl-C interrupts, and a signal that ends the program is told as such', async () => {
    const { type, shown, ended } = start('sh', '-c', 'echo ready; exec sleep 100')
    await until(() => shown().includes('ready'))
    type('\x03')
    expect(await ended).toEqual([null, 'SIGINT'])
  })

  test('all that was shown comes, also of a program that has ended', async () => {
    const { shown, ended } = start('sh', '-c', 'seq 20000; exit 0')
    await ended
    await until(() => shown().includes('20000\r\n'))
    expect(shown().split('\r\n')).toHaveLength(20_001)
  })

  test('what it leaves in the background holds nothing up', async () => {
    const { ended } = start('sh', '-c', 'trap "" HUP; sleep 5 & exit 0')
    expect(await ended).toEqual([0, null])
  })

  test('a program that is not there is told by its error', async () => {
    const { said, ended } = start('no-such-program')
    expect([await said, await ended]).toEqual([2, [127, null]])
  })
})
