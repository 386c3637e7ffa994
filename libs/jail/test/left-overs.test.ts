import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ownDirectory, removeLeftOvers } from '@automation/jail'
import { silentLogger } from '@automation/testing'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'left-overs-'))
afterAll(() => rmSync(folder, { recursive: true }))
const removeAll = () => removeLeftOvers('test', folder, silentLogger)

describe.skipIf(!existsSync('/proc/self'))('where the kernel tells of processes', () => {
  test('a directory is kept while its process lives, and removed once that was killed', async () => {
    const own = ownDirectory('test', folder)
    const making = `import { ownDirectory } from '@automation/jail'
      console.log(ownDirectory('test', ${JSON.stringify(folder)})); setInterval(() => {}, 1e6)`
    const other = spawn(process.execPath, ['--input-type=module', '-e', making], { cwd: import.meta.dirname })
    onTestFinished(() => void other.kill('SIGKILL'))
    const [line] = (await once(other.stdout, 'data')) as [Buffer]
    const others = line.toString().trim()
    await removeAll()
    expect([own, others].map((each) => existsSync(each))).toEqual([true, true])
    other.kill('SIGKILL')
    await once(other, 'exit')
    await removeAll()
    expect([own, others].map((each) => existsSync(each))).toEqual([true, false])
  })

  test('what another process of the same number has left is removed, as each is the first in its container', async () => {
    const left = ownDirectory('test', folder).replace(/(-\d+)-\w+-/, '$1-000000-')
    mkdirSync(join(left, '1'), { recursive: true })
    await removeAll()
    expect(existsSync(left)).toBe(false)
  })

  test('a directory whose service is in another container is kept while that listens', async () => {
    const others = `${folder}/automation-test-999999999-000000-others`
    renameSync(ownDirectory('test', folder), others)
    const server = createServer((socket) => socket.destroy()).listen(join(others, 'socket'))
    await once(server, 'listening')
    await removeAll()
    expect(existsSync(others)).toBe(true)
    server.close()
    await once(server, 'close')
    await removeAll()
    expect(existsSync(others)).toBe(false)
  })
})
