import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { hasProcessTable, processesMarked } from '../system/process-table.ts'
import { repositoryRoot, signal } from '../system/system.ts'
import { waitUntil } from '../system/wait-until.ts'

const folders: string[] = []
const markers: string[] = []
afterEach(async () => {
  for (const { pid } of markers.splice(0).flatMap(processesMarked)) signal(pid, 'SIGKILL')
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true })))
})

// Whatever options it is given.
const endless = `node -e "setInterval(() => {}, 1000)" --`

/** .ci/run on a repository whose commands are these. */
async function ciRun(steps: string, scripts: Record<string, string>, environment: Record<string, string> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'ci-run-'))
  folders.push(folder)
  await cp(join(repositoryRoot, '.ci'), join(folder, '.ci'), { recursive: true })
  await mkdir(join(folder, 'scripts'))
  await mkdir(join(folder, 'tmp'))
  await writeFile(join(folder, 'scripts/install.mjs'), '')
  await writeFile(join(folder, 'package.json'), JSON.stringify({ scripts }))
  const marker = randomUUID()
  markers.push(marker)
  const more = { CI_STEPS: steps, SERVICES_DIR: join(folder, 'none'), TMPDIR: join(folder, 'tmp'), CI_TEST: marker }
  const env = { ...process.env, ...environment, ...more }
  const child = spawn(join(folder, '.ci/run'), { env, stdio: ['ignore', 'pipe', 'pipe'] })
  return { child, marker, ended: endOf(child), made: join(folder, 'tmp') }
}

async function endOf(child: ChildProcess): Promise<{ code: number | null; output: string }> {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream!.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}

describe.runIf(hasProcessTable)('.ci/run', () => {
  test('counts what a step says, and shows one whose means are not here as left out', async () => {
    const { ended } = await ciRun('many,malformed', { chaos: 'exit 3', 'test:malformed': 'true' })
    const { code, output } = await ended
    expect(output).toMatch(/^many .* 0 passed {2}0 failed\n {2}LEFT OUT .*PostgreSQL/m)
    expect(output.trimEnd().split('\n').at(-1)).toBe('1 passed, 0 failed')
    expect(code).toBe(0)
  })

  test('that another one has started leaves what that builds beside its steps', async () => {
    const build = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' })
    const gone = once(build, 'exit')
    const { ended } = await ciRun('malformed', { 'test:malformed': 'true' }, { cluster_build: String(build.pid) })
    expect((await ended).code).toBe(0)
    build.kill('SIGKILL')
    expect((await gone)[1]).toBe('SIGKILL')
  })

  test('that is told to end ends its step and the one beside it, and leaves no folder', async () => {
    const { child, marker, ended, made } = await ciRun('chaos,malformed', { chaos: endless, 'test:malformed': endless })
    const steps = () => processesMarked(marker).filter(({ command }) => command.startsWith('node -e setInterval'))
    await waitUntil('both steps to run', async () => steps().length === 2, { timeoutMs: 30_000 })
    child.kill('SIGTERM')
    expect((await ended).code).toBe(143)
    await waitUntil('nothing of it to run', () => processesMarked(marker).length === 0, { timeoutMs: 5000 })
    expect(await readdir(made)).toEqual([])
  })
})
