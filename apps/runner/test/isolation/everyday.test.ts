import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { listening } from '@automation/testing/listening'
import { jailPythonPath } from '@automation/jail'
import { afterAll, describe, expect, test } from 'vitest'
import { startBehind, titleOf, levels } from './levels.ts'
import { startRunner } from '../runner-under-test.ts'

test('the isolation in force is on /readyz', async () => {
  const under = await startRunner({ ISOLATION: 'none', ISOLATION_MANY_TEAMS: 'false' })
  const checks = await under.runner.ready()
  await under.stop()
  expect(checks.find(({ name }) => name === 'isolation details')).toEqual({
    name: 'isolation details',
    ok: true,
    detail: expect.stringMatching(
      /^none; serves one team, as the isolation is none: .*ISOLATION_MANY_TEAMS=true.*; open: all that this account may do/,
    ),
  })
})

/** A process that forks a run, as the children that run Python do. */
const confined = (hasDomains: boolean) => `
import ctypes, os, subprocess, sys
sys.path[:0] = ['/opt/automation/apps/runner/children/python', '/opt/automation/libs/jail/python', ${JSON.stringify(fileURLToPath(new URL('../../children/python', import.meta.url)))}, ${JSON.stringify(jailPythonPath)}]
import confine
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
confine.prepare(${hasDomains ? 'True' : 'False'})
reading, writing = os.pipe()
if os.fork() == 0:
    is_confined = confine.confine_run()
    try:
        os.kill(os.getppid(), 0)
        signals = 'sent'
    except PermissionError:
        signals = 'refused'
    subprocess.Popen(['sh', '-c', 'trap "" TERM; sleep 100 & wait'])
    subprocess.run(['setsid', '--fork', 'sleep', '100'])
    os.write(writing, f'confined: {is_confined}, signals: {signals}'.encode())
    os.waitpid(-1, 0)
words = os.read(reading, 1000).decode()
confine.end_others()
try:
    while os.wait():
        pass
except ChildProcessError:
    print(f'{words}, left: none')
`

const local = await listening(createServer((_, response) => response.end('local')))
afterAll(local.close)

for (const level of [...levels, { name: 'none', refuses: [], needs: [], settings: { ISOLATION: 'none' } }]) {
  const under = await startBehind(level, { RUN_TMP_MB: '16' })
  describe.skipIf(under === undefined)(`${titleOf(level)}, everyday things work`, () => {
    afterAll(() => under?.stop())
    const value = async (source: string) => {
      const { value: got, explanation } = await under!.replica.run(source)
      return got ?? explanation
    }

    test('files in the private directory', async () => {
      const source = `
        const fs = require('fs'), path = require('path')
        fs.mkdirSync('a/b', { recursive: true })
        fs.writeFileSync('a/b/c', 'text')
        fs.renameSync('a/b/c', path.join(process.env.TMP_DATA_DIR, 'd'))
        return [fs.readFileSync('d', 'utf8'), fs.readdirSync('.').toSorted(), process.cwd() === process.env.TMP_DATA_DIR]`
      expect(await value(source)).toEqual(['text', ['a', 'd'], true])
    })

    test('subprocesses, shells and Python', async () => {
      const source = `
        const { execSync, spawnSync } = require('child_process')
        const python = 'import subprocess, json; print(json.dumps(subprocess.check_output(["echo", "3"]).decode()))'
        return [
          execSync('echo 1 | cat').toString(),
          spawnSync(process.execPath, ['-e', 'process.stdout.write("2")']).stdout.toString(),
          JSON.parse(spawnSync('python3', ['-c', python]).stdout.toString()),
          spawnSync('sh', ['-c', 'echo 4 > /dev/null && cat /dev/null && echo 4']).stdout.toString(),
        ]`
      expect(await value(source)).toEqual(['1\n', '2', '3\n', '4\n'])
    })

    test('workers, timers and compiled code', async () => {
      const source = `
        const { Worker } = require('worker_threads')
        const worker = new Worker('let n = 0; for (let i = 0; i < 1e6; i++) n += i % 7; require("worker_threads").parentPort.postMessage(n)', { eval: true })
        const message = await new Promise((resolve, reject) => worker.on('message', resolve).on('error', reject))
        await new Promise((resolve) => setTimeout(resolve, 5))
        return [message, require('os').cpus().length > 0, require('crypto').randomBytes(8).length]`
      expect(await value(source)).toEqual([2999997, true, 8])
    })

    test('names, and servers of its own', async () => {
      const source = `
        const { address } = await require('dns').promises.lookup('localhost')
        const server = require('http').createServer((_, response) => response.end('own'))
        await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
        const answer = await (await fetch('http://127.0.0.1:' + server.address().port)).text()
        server.closeAllConnections()
        server.close()
        return [/^127|^::1/.test(address), answer]`
      expect(await value(source)).toEqual([true, 'own'])
    })

    test.runIf(level.settings['ISOLATION_NETWORK'] === 'own')(
      'the loopback of the machine is another one',
      async () => {
        expect(await value(`return fetch('${local.url}')`)).toMatch(/fetch failed/)
      },
    )

    test.runIf(level.settings['ISOLATION_NETWORK'] === 'own')('no setting opens metadata of clouds', async () => {
      const open = await startBehind(level, { EGRESS_ALLOW: '0.0.0.0/0,::/0' })
      const addresses = [
        '169.254.169.254',
        '168.63.129.16',
        '100.100.100.200',
        '192.0.0.192',
        'fd00:ec2::254',
        'fe80::1',
      ]
      const source = `
        const net = require('net')
        const codeOf = (host) => new Promise((resolve) => {
          const socket = net.connect({ host, port: 80, timeout: 2000 })
          for (const name of ['connect', 'timeout']) socket.on(name, () => resolve(name, socket.destroy()))
          socket.on('error', ({ code }) => resolve(code))
        })
        return Promise.all(${JSON.stringify(addresses)}.map(codeOf))`
      const { value: codes, explanation } = await open!.replica.run(source)
      await open!.stop()
      const unreachable = addresses.map(() => expect.stringMatching(/^E(HOST|NET)UNREACH$/))
      expect(codes ?? explanation).toEqual(unreachable)
    })

    test.runIf(level.settings['ISOLATION_NETWORK'] === 'own')(
      'what lies in a connection of TCP is little',
      async () => {
        const source = `
        const net = require('net')
        const server = net.createServer((socket) => socket.pause())
        await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
        const client = net.connect(server.address().port, '127.0.0.1')
        await new Promise((resolve) => client.on('connect', resolve))
        let written = 0
        const stuck = () => new Promise((resolve) => setTimeout(resolve, 100, true))
        for (let isFull = false; !isFull && written < 1e6; written += 65536)
          isFull = await Promise.race([stuck(), new Promise((resolve) => client.write(Buffer.alloc(65536), () => resolve(false)))])
        return written < 1e6`
        expect(await value(source)).toBe(true)
      },
    )

    // In a pod only the child itself sees its processes, and ends them by one signal to all; without isolation nothing parts them.
    test.skipIf(level.name === 'pod' || level.name === 'none')(
      'a run of Python is kept from the process that forked it, which ends all that it left',
      async () => {
        const script = confined(level.settings['ISOLATION_NETWORK'] === 'own')
        const source = `
        const { stdout, stderr } = require('child_process').spawnSync('python3', ['-I', '-c', ${JSON.stringify(script)}])
        return stdout.toString().trim() || stderr.toString()`
        expect(await value(source)).toBe('confined: True, signals: refused, left: none')
      },
    )

    test('too many processes end only their run', async () => {
      const source = `
        const { spawn } = require('child_process')
        for (let n = 0; n < 300; n++)
          spawn('sleep', ['100'], { stdio: 'ignore' }).on('error', (error) => { throw error })
        await new Promise((resolve) => setTimeout(resolve, 1e6))`
      expect(await value(source)).toMatch(/EAGAIN|OutOfProcessesError: The run has more than 256 processes/)
      expect(await value('return 1')).toBe(1)
    })

    test('a full private directory ends only its run, with the reason', async () => {
      const source = `
        const fs = require('fs')
        const file = fs.openSync('big', 'w')
        for (;;) fs.writeSync(file, Buffer.alloc(1e6))`
      expect(await value(source)).toMatch(/ENOSPC|EFBIG|OutOfDiskError/)
      expect(await value('return 1')).toBe(1)
    })

    test('and so does a million small files', async () => {
      const source = `
        const fs = require('fs')
        for (let n = 0; n < 1e6; n++) { fs.writeFileSync('f' + n, ''); if (n % 1000 === 0) await new Promise(setImmediate) }`
      expect(await value(source)).toMatch(/ENOSPC|OutOfDiskError: .* more than 1024 files/)
      expect(await value('return 1')).toBe(1)
    })
  })
}
