import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { readArguments } from './arguments.ts'
import { pack } from './pack.ts'
import { runSuite } from './test-run/run-suite.ts'

const help = `npm run test:clients [-- OPTIONS] [PATH …]

Makes the packages for users, installs them as users do, in .cache, and tests them against a started system: those of npm
(e2e/clients), then the one of PyPI (clients/python). With paths, only those tests of e2e/clients.

  --only NAME,NAME  npm, python
  --shape SHAPE,…   the system: embedded (default) or services; of each after the first, only the tests of cut connections,
                    429, tokens that end and crashes
  --again           a few files that failed run once more by themselves; what passes then is named, and has passed
  --report FILE     also write the counts as JSON
  --help
`

const { values, words: paths } = readArguments(
  help,
  {
    only: { type: 'string', default: 'npm,python' },
    shape: { type: 'string', default: process.env['E2E_SHAPE'] ?? 'embedded' },
    again: { type: 'boolean', default: false },
    report: { type: 'string' },
  },
  { words: true },
)

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const cache = join(root, '.cache/clients')

/** What the command for Python ends with where PyPI is not reached. */
const pypiIsAway = 3

/** What separate services could break. */
const core = {
  npm: ['cut-connections', 'tokens-and-restarts'].map((name) => `e2e/clients/${name}.test.ts`),
  python: ['aio/test_streams.py', 'test_restart.py'].map((name) => `tests/${name}`),
}

const counts = { passed: 0, failed: 0, failures: [] as string[], unsteady: [] as string[], leftOut: [] as string[] }

await testClients()

async function testClients(): Promise<void> {
  process.chdir(root)
  const only = paths.length > 0 ? ['npm'] : values.only.split(',')
  const installed = only.includes('npm') ? await installPackages() : ''
  const [first = 'embedded', ...others] = values.shape.split(',')
  await testShape(first, only, installed, { npm: paths, python: [] })
  for (const shape of others) await testShape(shape, only, installed, core)
  for (const line of counts.unsteady) console.log(`UNSTEADY ${line}`)
  for (const line of counts.failures) console.log(`FAILED ${line}`)
  for (const line of counts.leftOut) console.log(`left out: ${line}`)
  console.log(`${counts.passed} passed, ${counts.failed} failed`)
  if (values.report !== undefined) await writeFile(values.report, JSON.stringify(counts))
  process.exitCode = counts.failed === 0 ? 0 : 1
}

/** Tests against a system of a shape; of the files that are named, or of all where none is. */
async function testShape(shape: string, only: string[], installed: string, files: typeof core): Promise<void> {
  const system = await startSystem({ E2E_SHAPE: shape })
  const env = { E2E_SHAPE: shape, ...system.env }
  try {
    if (only.includes('npm')) {
      const suite = { name: `clients of npm, ${shape}`, config: 'e2e/clients/vitest.config.ts', files: files.npm }
      const result = await runSuite({ ...suite, env: { ...env, CLIENTS_INSTALLED_IN: installed } }, values.again)
      counts.passed += result.passed
      counts.failed += result.failed
      counts.failures.push(...result.failures)
      counts.unsteady.push(...result.unsteady)
    }
    if (only.includes('python')) {
      const code = await exitOf('python3', ['clients/python/test.py', ...files.python], env)
      if (code === pypiIsAway) counts.leftOut.push('the client of Python: PyPI is not reached')
      else counts[code === 0 ? 'passed' : 'failed'] += 1
    }
  } finally {
    await system.stop()
  }
}

/** Packs, and installs the tarballs into an empty folder; gives the folder. */
async function installPackages(): Promise<string> {
  const tarballs = await pack(join(cache, 'packed'))
  const folder = join(cache, 'installed')
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  // The node of n8n is of use in n8n alone: `npm run test:hosts`.
  const used = [...tarballs].filter(([name]) => !name.includes('/n8n-nodes-'))
  const dependencies = Object.fromEntries(used.map(([name, path]) => [name, `file:${path}`]))
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies }))
  const options = ['--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts', '--prefer-offline']
  await promisify(execFile)('npm', ['install', ...options], { cwd: folder })
  return folder
}

interface StartedSystem {
  /** By which tests find it. */
  env: Record<string, string>
  stop(): Promise<void>
}

async function startSystem(env: Record<string, string>): Promise<StartedSystem> {
  const child = spawn(process.execPath, ['e2e/clients/system.ts'], {
    ...{ stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, ...env } },
  })
  const lines = createInterface(child.stdout!)[Symbol.asyncIterator]()
  const { value } = (await lines.next()) as { value?: string }
  if (value === undefined) throw new Error('The system did not start: its last words are above')
  const { host, team, apiToken } = JSON.parse(value) as { host: string; team: string; apiToken: string }
  return {
    env: { E2E_BASE_URL: host, E2E_TEAM: team, E2E_API_TOKEN: apiToken },
    stop: async () => {
      const ended = once(child, 'exit')
      child.stdin!.end()
      await ended
    },
  }
}

async function exitOf(command: string, args: string[], env: Record<string, string>): Promise<number | null> {
  const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...env } })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code
}
