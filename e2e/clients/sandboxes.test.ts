import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TeamSandbox } from '@automation/client'
import type * as sandboxSource from '@automation/client/sandbox'
import { clientAt, imported } from './installed.ts'

const pas = clientAt()
let box: TeamSandbox

beforeAll(async () => {
  box = await pas.sandboxes.create({ imageId: 'base', ports: [3000], timeoutMs: 300_000, metadata: { of: 'tests' } })
})
afterAll(() => box[Symbol.asyncDispose]())

describe('a sandbox', () => {
  test('runs commands with their input, environment and place, and tells what they write as they write it', async () => {
    const told: string[] = []
    const script = 'echo "$WORD in $PWD"; cat; echo trouble >&2; exit 3'
    const result = await box.run(['sh', '-c', script], {
      ...{ input: 'typed\n', environment: { WORD: 'here' }, workingDirectory: '/tmp' },
      onStdout: (text) => told.push(text),
    })
    expect(result).toEqual({
      ...{ exitCode: 3, timedOut: false, signal: undefined },
      ...{ stdout: 'here in /tmp\ntyped\n', stderr: 'trouble\n' },
    })
    expect(told.join('')).toBe(result.stdout)
  })

  test('ends a command in time, and with its caller', async () => {
    const late = await box.run(['sleep', '60'], { timeoutMs: 300 })
    expect(late).toMatchObject({ exitCode: -1, timedOut: true })
    const signal = AbortSignal.timeout(500)
    await expect(box.run(['sh', '-c', 'echo $$ > /tmp/pid; sleep 61'], { signal })).rejects.toThrow(/timeout/)
    await expect.poll(async () => (await box.run(['pgrep', '-f', 'sleep 61'])).stdout).toBe('')
    await expect(box.run(['no-such-program'])).rejects.toMatchObject({ code: 'program_not_found' })
  })

  test('keeps files', async () => {
    await box.files.write('/tmp/a/b c.txt', 'text')
    expect(await box.files.readText('/tmp/a/b c.txt')).toBe('text')
    expect((await box.files.list('/tmp/a')).map(({ name, size }) => [name, size])).toEqual([['b c.txt', 4]])
    expect((await box.files.list('/')).length).toBeGreaterThan(1)
    await box.files.remove('/tmp/a', { recursive: true })
    await expect(box.files.read('/tmp/a/b c.txt')).rejects.toMatchObject({ status: 404, code: 'path_not_found' })
  })

  test('goes on with detached commands, and its ports are reached from outside', async () => {
    await box.files.write('/tmp/www/index.html', 'Hello')
    const command = ['python3', '-u', '-m', 'http.server', '3000', '--directory', '/tmp/www']
    const id = await box.detach(command)
    await expect.poll(async () => (await fetch(box.url(3000))).text(), { timeout: 20_000 }).toBe('Hello')
    expect(() => box.url(3001)).toThrow(/those are: 3000/)
    expect((await box.commands()).map(({ commandId }) => commandId)).toContain(id)
    for await (const output of box.attach(id)) if ('stream' in output && output.text.includes('GET /')) break
    await box.remove(id)
    const short = await box.detach(['sh', '-c', 'echo a; sleep 0.2; echo b; exit 4'])
    const outputs = await Array.fromAsync(box.attach(short))
    expect(outputs.at(-1)).toMatchObject({ ended: { exitCode: 4 } })
    expect(outputs.flatMap((one) => ('text' in one ? [one.text] : [])).join('')).toBe('a\nb\n')
  })

  test('speaks gRPC with `./sandbox`, by what was created', async () => {
    const { connectSandbox } = (await imported(
      ...(['@process-automation/client/sandbox', '@automation/client/sandbox'] as const),
    )) as typeof sandboxSource
    const sandbox = connectSandbox(box)
    try {
      await sandbox.files.write('main.py', 'print(input()[::-1])')
      const { exitCode, stdout } = await sandbox.run(['python3', 'main.py'], { input: 'hello' })
      expect([exitCode, stdout]).toEqual([0, 'olleh\n'])
    } finally {
      sandbox.close()
    }
  })

  test('ends with its block', async () => {
    const made = await (async () => {
      await using other = await pas.sandboxes.create({ imageId: 'base' })
      await other.kill()
      return other.id
    })()
    expect((await pas.sandboxes.get(made)).status).toBe('KILLED')
    await expect(pas.sandboxes.create({ imageId: 'none' })).rejects.toMatchObject({ status: 400 })
  })

  test.skipIf(process.getuid?.() !== 0)('has a terminal', async () => {
    const terminal = await box.terminal({ columns: 90, rows: 20 })
    terminal.write('stty size; exit 4\n')
    let shown = ''
    for await (const bytes of terminal.output) shown += new TextDecoder().decode(bytes)
    expect(shown).toContain('20 90')
    expect(await terminal.ended).toMatchObject({ exitCode: 4 })
  })

  test.skipIf(process.getuid?.() !== 0)(
    'ends its terminal where the reader leaves, whatever is still shown',
    async () => {
      const terminal = await box.terminal()
      terminal.write('seq 1 200000\n')
      for await (const bytes of terminal.output) if (bytes.length > 0) break
      await expect(terminal.ended).rejects.toThrow('The terminal broke off')
    },
  )
})
