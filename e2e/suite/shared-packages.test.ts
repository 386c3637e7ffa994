import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../client/client.ts'
import type { Process } from '../client/records.ts'
import { openRegistry, type PackageRegistry } from '../system/package-registry.ts'
import { removeTraces, startSystem, systemFolder, type System } from '../system/system.ts'
import { waitUntil } from '../system/wait-until.ts'
import { clientOf } from './client-of.ts'
import { awaitEnd, execute, makeProcess } from './runs.ts'
import { shared } from './shared-system.ts'

const noise = `// ${Array.from({ length: 2000 }, (_, at) => (at * 7919).toString(36)).join(' ')}\n`
const packages = {
  npm: { answer: `module.exports = 42\n${noise}` },
  pypi: { question: `answer = 43\n` },
}

/** One system that is started again with runners that have nothing. The registry of npm is gone, that of Python is there. */
describe.skipIf(!shared.owned)('sets of packages in the object store', { concurrent: false }, () => {
  let dataDir: string
  let registry: PackageRegistry
  let settings: Record<string, string>
  let processes: Record<'javascript' | 'python', Process>
  /** What is kept of the set of Python. */
  let kept: string[]

  beforeAll(async () => {
    dataDir = await systemFolder('automation-e2e-packages-')
    registry = await openRegistry(packages)
    settings = registry.settings
    await withSystem(async (client) => {
      for (const [language, name] of [
        ['JAVASCRIPT', 'answer'],
        ['PYTHON', 'question'],
      ] as const) {
        const before = await filesIn(objects())
        await client.call('PUT', `/dependencies/${language}`, { json: { dependencies: { [name]: '*' } } })
        await client.post(`/dependencies/${language}/install`)
        await waitUntil(
          `the installation for ${language}`,
          async () => !('nextInstallation' in (await client.get<object>(`/dependencies/${language}`)).body),
          { timeoutMs: 60_000, everyMs: 100 },
        )
        kept = (await filesIn(objects())).filter((file) => !before.includes(file))
      }
      const sourceCode = 'import question\nreturn question.answer'
      processes = {
        javascript: await makeProcess({ sourceCode: "return require('answer')" }, client),
        python: await makeProcess({ sourceCode, programmingLanguage: 'PYTHON' }, client),
      }
    })
    const gone = registry
    await gone.close()
    registry = await openRegistry(packages)
    settings = { ...registry.settings, NPM_REGISTRY: gone.settings['NPM_REGISTRY']! }
  })
  afterAll(async () => {
    await registry?.close()
    if (dataDir !== undefined) await removeTraces(dataDir)
  })

  /** The system, with runners that have no sets. */
  async function withSystem(work: (client: Client, system: System) => Promise<void>): Promise<void> {
    const sets = join(dataDir, 'sets-of-runners')
    await rm(sets, { recursive: true, force: true })
    const env = { ...settings, RUNNER_DEPENDENCIES_DIR: sets }
    const system = await startSystem({ team: 'sharing', env, dataDir })
    try {
      await work(await clientOf(system), system)
    } finally {
      await system.stop()
    }
  }

  const objects = () => join(dataDir, 'objects')
  const endOf = async (process: Process, client: Client) => awaitEnd(await execute(process, {}, client), 60_000, client)

  test('are there for runners that have none while no registry is, and refused and installed anew where they were changed', async () => {
    const isChanged = !process.env['S3_ENDPOINT']
    if (isChanged) {
      expect(kept).toHaveLength(1)
      await change(kept[0]!)
    }
    await withSystem(async (client, system) => {
      expect(await endOf(processes.javascript, client)).toMatchObject({ status: 'FINISHED', returnValue: '42' })
      expect(await endOf(processes.python, client)).toMatchObject({ status: 'FINISHED', returnValue: '43' })
      const refused = [...(await system.output()).matchAll(/a set of packages is refused, and is installed anew/g)]
      expect(refused).toHaveLength(isChanged ? 1 : 0)
    })
  })
})

async function filesIn(folder: string): Promise<string[]> {
  // There is none before the first object, and none where an S3 server has them.
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

/** Changes a bit of what is kept. */
async function change(path: string): Promise<void> {
  const content = await readFile(path)
  content[Math.floor(content.length / 2)]! ^= 1
  await writeFile(path, content)
}
