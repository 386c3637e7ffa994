import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../client/client.ts'
import type { Process } from '../client/records.ts'
import { openRegistry, type PackageRegistry } from '../system/package-registry.ts'
import { removeTraces, startSystem, type System } from '../system/system.ts'
import { waitUntil } from '../system/wait-until.ts'
import { clientOf } from './client-of.ts'
import { awaitEnd, execute, makeProcess } from './runs.ts'
import { shared } from './shared-system.ts'

const noise = `// ${Array.from({ length: 2000 }, (_, at) => (at * 7919).toString(36)).join(' ')}\n`
const packages = {
  npm: { answer: `module.exports = 42\n${noise}` },
  pypi: { question: `answer = 43\n` },
}

/** One system that is stopped and started, each time with runners that have nothing, and with or without a registry. */
describe.skipIf(!shared.owned)('sets of packages in the object store', { concurrent: false }, () => {
  let dataDir: string
  let registry: PackageRegistry
  let processes: Record<'javascript' | 'python', Process>

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'automation-e2e-packages-'))
    await chmod(dataDir, 0o755) // the embedded PostgreSQL may run as a user of its own
    registry = await openRegistry(packages)
    await withSystem(async (client) => {
      for (const [language, name] of [
        ['JAVASCRIPT', 'answer'],
        ['PYTHON', 'question'],
      ] as const) {
        await client.call('PUT', `/dependencies/${language}`, { json: { dependencies: { [name]: '*' } } })
        await client.post(`/dependencies/${language}/install`)
        await waitUntil(
          `the installation for ${language}`,
          async () => !('nextInstallation' in (await client.get<object>(`/dependencies/${language}`)).body),
          { timeoutMs: 60_000, everyMs: 100 },
        )
      }
      const sourceCode = 'import question\nreturn question.answer'
      processes = {
        javascript: await makeProcess({ sourceCode: "return require('answer')" }, client),
        python: await makeProcess({ sourceCode, programmingLanguage: 'PYTHON' }, client),
      }
    })
    await registry.close()
  })
  afterAll(async () => {
    await registry?.close()
    if (dataDir !== undefined) await removeTraces(dataDir)
  })

  /** The system, with runners that have no sets. */
  async function withSystem(work: (client: Client, system: System) => Promise<void>): Promise<void> {
    const sets = join(dataDir, 'sets-of-runners')
    await rm(sets, { recursive: true, force: true })
    const env = { ...registry.settings, RUNNER_DEPENDENCIES_DIR: sets }
    const system = await startSystem({ team: 'sharing', env, dataDir })
    try {
      await work(await clientOf(system), system)
    } finally {
      await system.stop()
    }
  }

  const endOf = async (process: Process, client: Client) => awaitEnd(await execute(process, {}, client), 60_000, client)

  test('are there for runners that have none, while no registry is', async () => {
    await withSystem(async (client) => {
      expect(await endOf(processes.javascript, client)).toMatchObject({ status: 'FINISHED', returnValue: '42' })
      expect(await endOf(processes.python, client)).toMatchObject({ status: 'FINISHED', returnValue: '43' })
    })
  })

  test.skipIf(process.env['S3_ENDPOINT'])('are refused when they were changed, and installed anew', async () => {
    const changed = await changeKept(join(dataDir, 'objects'))
    expect(changed).toBe(2)
    registry = await openRegistry(packages)
    await withSystem(async (client, system) => {
      expect(await endOf(processes.javascript, client)).toMatchObject({ status: 'FINISHED', returnValue: '42' })
      expect(await endOf(processes.python, client)).toMatchObject({ status: 'FINISHED', returnValue: '43' })
      expect(await system.output()).toMatch(/a set of packages is refused, and is installed anew/)
    })
  })
})

/** Changes a bit of all contents that are kept; gives their number. */
async function changeKept(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  for (const path of files) {
    const content = await readFile(path)
    content[Math.floor(content.length / 2)]! ^= 1
    await writeFile(path, content)
  }
  return files.length
}
