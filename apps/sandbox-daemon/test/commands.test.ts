import { readFileSync, readdirSync } from 'node:fs'
import { until } from '@automation/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startDaemonProcess, type DaemonProcess } from '@automation/testing/daemon-process'

let daemon: DaemonProcess

beforeAll(async () => {
  daemon = await startDaemonProcess({ environment: { OF_THE_SANDBOX: 'yes' } })
})
afterAll(() => daemon.stop())

const sh = (script: string) => ['sh', '-c', script]

/** Whether a process still runs; one that nobody has collected yet does not. */
function runs(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

/** Whether anybody is left in a group of processes. */
function isGroup(id: number): boolean {
  try {
    return process.kill(-id, 0)
  } catch {
    return false
  }
}

/** The first line that a command writes. */
async function firstLine(output: AsyncIterable<{ data: Uint8Array }>): Promise<string> {
  let text = ''
  const reading = output[Symbol.asyncIterator]()
  while (!text.includes('\n')) {
    const { done, value } = await reading.next()
    if (done) break
    text += Buffer.from(value.data).toString()
  }
  return text.trim()
}

test('a command gives its outputs apart, its exit code, and has its input', async () => {
  const result = await daemon.sandbox.run(sh('cat; echo problem >&2; exit 7'), { input: 'from outside' })
  expect(result).toEqual({
    exitCode: 7,
    signal: undefined,
    timedOut: false,
    stdout: 'from outside',
    stderr: 'problem\n',
  })
})

test('a command sees the environment of its sandbox and its own, in its working directory, and nothing of the daemon', async () => {
  await daemon.sandbox.files.make('place')
  const { stdout } = await daemon.sandbox.run(sh('pwd; env; ls /proc/self/fd'), {
    workingDirectory: 'place',
    environment: { OF_THE_COMMAND: 'too' },
  })
  expect(stdout).toContain(`${daemon.home}/place\n`)
  expect(stdout).toContain('OF_THE_SANDBOX=yes')
  expect(stdout).toContain('OF_THE_COMMAND=too')
  expect(stdout).toContain(`HOME=${daemon.home}\n`)
  expect(stdout).not.toContain('DAEMON_LISTEN')
  const descriptor = (await daemon.sandbox.run(sh('readlink /proc/self/fd/3 || echo none'))).stdout
  expect(descriptor).toBe('none\n')
})

test.each([
  [['no-such-program'], {}, 'program_not_found'],
  [['/etc/passwd'], {}, 'program_denied'],
  [[], {}, 'invalid_input'],
  [['a\0b'], {}, 'invalid_input'],
  [['true'], { workingDirectory: '/nowhere' }, 'working_directory_not_found'],
  [['true'], { environment: { 'A=B': 'c' } }, 'invalid_input'],
])('%j with %j is refused as %s', async (command, options, code) => {
  await expect(daemon.sandbox.run(command, options)).rejects.toMatchObject({ code })
})

test('a fault in the input names its field', async () => {
  const refused = daemon.sandbox.run(['true'], { workingDirectory: '/nowhere' })
  await expect(refused).rejects.toMatchObject({ fields: [{ path: '/start/working_directory' }] })
})

describe('input and output are taken as fast as the other side reads', () => {
  test('a caller that does not read stops the command', async () => {
    const counter = 'import sys\nfor i in range(400):\n  sys.stdout.write("x" * 65536); sys.stderr.write("%d\\n" % i)'
    const slow = await daemon.sandbox.start(['python3', '-uc', `${counter}\nopen("finished", "w")`])
    const reading = slow.output()[Symbol.asyncIterator]()
    await reading.next()
    // Another command passes meanwhile, and the slow one's 25 MB are not written.
    expect((await daemon.sandbox.run(['echo', 'quick'])).stdout).toBe('quick\n')
    await expect(daemon.sandbox.files.stat('finished')).rejects.toMatchObject({ code: 'path_not_found' })
    for (let next = await reading.next(); !next.done; next = await reading.next());
    expect(await slow.ended).toMatchObject({ exitCode: 0 })
    expect(await daemon.sandbox.files.stat('finished')).toMatchObject({ size: 0 })
  })

  test('an input larger than any message arrives whole', async () => {
    const { stdout } = await daemon.sandbox.run(['wc', '-c'], { input: Buffer.alloc(20_000_000) })
    expect(Number(stdout)).toBe(20_000_000)
  })

  test('who writes to a command that reads nothing is let go when it ends', async () => {
    const deaf = await daemon.sandbox.start(['sleep', '0.2'])
    const writing = deaf.write(Buffer.alloc(20_000_000))
    for await (const _ of deaf.output());
    await writing
    await deaf.write('more')
    expect(await deaf.ended).toMatchObject({ exitCode: 0 })
  })

  test('200 MB through a command leave the daemon as small as it was', async () => {
    const memory = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${daemon.process.pid}/status`, 'utf8'))![1])
    const cat = await daemon.sandbox.start(['cat'])
    const piece = Buffer.alloc(1024 * 1024, 'x')
    const before = memory()
    let most = 0
    const feeding = (async () => {
      for (let i = 0; i < 200; i++) await cat.write(piece)
      cat.endInput()
    })()
    let bytes = 0
    for await (const { data } of cat.output()) {
      bytes += data.length
      most = Math.max(most, memory())
    }
    await feeding
    expect(bytes).toBe(200 * piece.length)
    expect(most - before).toBeLessThan(160 * 1024)
  }, 60_000)
})

describe('what a command started ends with it', () => {
  // One in its session, one in a session of its own, one whose parent is gone; none hears of SIGTERM or SIGHUP.
  const family = `
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
pids = [os.getpid()]
for detached in (False, True, True):
    reader, writer = os.pipe()
    if os.fork() == 0:
        if detached:
            os.setsid()
            if os.fork() != 0:
                os._exit(0)
        os.write(writer, b"%d" % os.getpid())
        time.sleep(1000)
    pids.append(int(os.read(reader, 20)))
print(*pids, flush=True)
time.sleep(1000)
`
  const started = async (options = {}) => {
    const command = await daemon.sandbox.start(['python3', '-c', family], options)
    const output = command.output()
    const pids = (await firstLine(output)).split(' ').map(Number)
    expect(pids).toHaveLength(4)
    expect(pids.every(runs)).toBe(true)
    return { command, output, pids }
  }
  const gone = (pids: number[]) => until(() => !pids.some(runs), { what: 'the end of all processes' })

  test('when it is killed', async () => {
    const { command, output, pids } = await started()
    expect(await daemon.sandbox.list()).toContainEqual(expect.objectContaining({ pid: command.pid }))
    await command.kill()
    for await (const _ of output);
    expect(await command.ended).toEqual({ exitCode: -1, signal: 'SIGKILL', timedOut: false })
    await gone(pids)
    await expect(daemon.sandbox.kill(command.pid)).rejects.toMatchObject({ code: 'command_not_found' })
  })

  test('when it is killed, with chains of processes that begin another and end', async () => {
    // They end by themselves where nobody ends them.
    const chains = `
import os, time
end = time.monotonic() + 90
for _ in range(30):
    if os.fork() == 0:
        while time.monotonic() < end:
            if os.fork() != 0:
                os._exit(0)
        os._exit(0)
print("begun", flush=True)
time.sleep(90)
`
    const command = await daemon.sandbox.start(['python3', '-c', chains])
    expect(await firstLine(command.output())).toBe('begun')
    await command.kill()
    await until(() => !isGroup(command.pid), { timeoutMs: 20_000, what: 'the end of all chains' })
  })

  test('when its caller gives it up', async () => {
    const caller = new AbortController()
    const { pids } = await started({ signal: caller.signal })
    caller.abort()
    await gone(pids)
  })

  test('when the connection of its caller is closed', async () => {
    const other = daemon.connect()
    const command = await other.start(['python3', '-c', family])
    const pids = (await firstLine(command.output())).split(' ').map(Number)
    other.close()
    await gone(pids)
  })

  test('when its time is over', async () => {
    const { exitCode, signal, timedOut } = await daemon.sandbox.run(sh('sleep 1000 & echo $! > pid; sleep 1000'), {
      timeoutMs: 300,
    })
    expect([exitCode, signal, timedOut]).toEqual([-1, 'SIGKILL', true])
    // A busy machine may not have come so far.
    const pid = Number(Buffer.from(await daemon.sandbox.files.read('pid').catch(() => Buffer.alloc(0))).toString())
    await gone(pid > 0 ? [pid] : [])
  })
})

test('a signal reaches the command, which may go on', async () => {
  const command = await daemon.sandbox.start(
    sh('trap "echo told; exit 5" USR1; echo ready; while :; do sleep 0.01; done'),
  )
  const output = command.output()
  expect(await firstLine(output)).toBe('ready')
  command.signal(10)
  let text = ''
  for await (const { data } of output) text += Buffer.from(data).toString()
  expect(text).toContain('told')
  expect(await command.ended).toMatchObject({ exitCode: 5 })
})

test('what a command leaves in the background goes on, and does not keep the command', async () => {
  const { exitCode, stdout } = await daemon.sandbox.run(sh('sleep 1000 & echo $!'))
  expect(exitCode).toBe(0)
  const pid = Number(stdout)
  expect(runs(pid)).toBe(true)
  await daemon.sandbox.run(['kill', '-9', String(pid)])
  await until(() => !runs(pid))
})

test.each([
  ['all that it can', 'yes'],
  ['a line now and then', "python3 -uc 'import time\nwhile True: print(); time.sleep(0.001)'"],
])(
  'what a command leaves in the background does not keep the command, though it goes on writing %s',
  async (_, writer) => {
    const { stdout, exitCode } = await daemon.sandbox.run(sh(`${writer} & echo "pid $!"; exit 3`))
    const pid = Number(/pid (\d+)/.exec(stdout)![1])
    expect({ exitCode, runs: runs(pid) }).toEqual({ exitCode: 3, runs: true })
    process.kill(pid, 'SIGKILL')
  },
)

test('when memory runs out, a command goes before its daemon', async () => {
  const score = (pid: number) => Number(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8'))
  const command = await daemon.sandbox.start(['sleep', '1000'])
  expect(score(command.pid)).toBeGreaterThan(score(daemon.process.pid!))
  await command.kill()
})

test('the daemon has no descriptors left of commands that have ended', async () => {
  const descriptors = () => readdirSync(`/proc/${daemon.process.pid}/fd`).length
  await daemon.sandbox.run(['true'])
  const before = descriptors()
  for (let i = 0; i < 20; i++) await daemon.sandbox.run(['true'])
  await until(() => descriptors() <= before)
})

test('the daemon has no descriptors left of commands whose callers went while output waited', async () => {
  const descriptors = () => readdirSync(`/proc/${daemon.process.pid}/fd`).length
  await daemon.sandbox.run(['true'])
  const before = descriptors()
  const writer = `import sys
at = open("at", "w")
while True:
    sys.stdout.write("x" * 65536)
    sys.stderr.write("y" * 65536)
    at.write(".")
    at.flush()`
  for (let i = 0; i < 3; i++) {
    const other = daemon.connect()
    const command = await other.start(['python3', '-uc', writer])
    await command.output()[Symbol.asyncIterator]().next()
    let written = 0
    const stopped = async () => {
      const last = written
      written = Number((await daemon.sandbox.files.stat('at')).size)
      return written > 0 && written === last
    }
    await until(stopped, { what: 'the command to wait for its reader', everyMs: 500 })
    other.close()
  }
  await until(() => descriptors() <= before, { what: 'the end of descriptors' })
})

describe('a detached command', () => {
  const attached = async (id: string) => {
    const told = { stdout: '', stderr: '', lost: 0, exitCode: undefined as number | undefined }
    for await (const one of daemon.sandbox.attach(id)) {
      if ('data' in one) told[one.stream] += Buffer.from(one.data).toString('latin1')
      else if ('lost' in one) told.lost += one.lost
      else told.exitCode = one.ended.exitCode
    }
    return told
  }

  test('goes on without its caller, and tells each who attaches all that it wrote and writes, and its end', async () => {
    const other = daemon.connect()
    const id = await other.detach(
      sh('cat; echo problem >&2; while [ ! -e on ]; do sleep 0.05; done; echo end; exit 3'),
      {
        input: 'from outside ',
      },
    )
    other.close()
    const early = attached(id)
    expect((await daemon.sandbox.list()).find((one) => one.id === id)).toMatchObject({
      command: expect.arrayContaining(['sh']),
    })
    await daemon.sandbox.files.write('on', '')
    const all = { stdout: 'from outside end\n', stderr: 'problem\n', lost: 0, exitCode: 3 }
    expect([await early, await attached(id)]).toEqual([all, all])
    await daemon.sandbox.remove(id)
    await expect(attached(id)).rejects.toMatchObject({ code: 'command_not_found' })
  })

  test('waits for no reader: its last output is kept, and what is lost is told', async () => {
    const id = await daemon.sandbox.detach(
      sh('head -c 3000000 /dev/zero | tr "\\0" a; for n in 1 2 3; do echo $n; done'),
    )
    const { stdout, lost, exitCode } = await attached(id)
    await until(async () => (await attached(id)).lost > 0, { what: 'only the last to be kept' })
    const kept = await attached(id)
    expect([stdout.length + lost, kept.stdout.length + kept.lost, exitCode]).toEqual([3_000_006, 3_000_006, 0])
    expect(kept.stdout.length).toBeLessThanOrEqual(512 * 1024)
    expect(kept.stdout.endsWith('a1\n2\n3\n')).toBe(true)
  })

  test('is one of at most 32: the oldest that has ended makes room, and where all run one more is refused', async () => {
    const first = await daemon.sandbox.detach(sh('true'))
    await attached(first)
    for (const { id } of await daemon.sandbox.list())
      if (id !== undefined && id !== first) await daemon.sandbox.remove(id)
    const ids = await Promise.all(Array.from({ length: 31 }, () => daemon.sandbox.detach(sh('sleep 1000'))))
    ids.push(await daemon.sandbox.detach(sh('sleep 1000')))
    await expect(attached(first)).rejects.toMatchObject({ code: 'command_not_found' })
    await expect(daemon.sandbox.detach(sh('true'))).rejects.toMatchObject({ code: 'too_many_commands' })
    const pids = (await daemon.sandbox.list()).map(({ pid }) => pid)
    await Promise.all(ids.map((id) => daemon.sandbox.remove(id)))
    await until(() => pids.every((pid) => !runs(pid)), { what: 'all to be ended' })
    // Others may be about to go that have callers.
    expect((await daemon.sandbox.list()).flatMap(({ id }) => id ?? [])).toEqual([])
  })
})
