import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { repositoryRoot } from './system.ts'

/** Source texts by the name of a package: each is one file, in version 1.2.3. */
export interface Packages {
  npm: Record<string, string>
  pypi: Record<string, string>
}

export interface PackageRegistry {
  /** Lead a system to it. */
  settings: Record<string, string>
  close(): Promise<void>
}

const version = '1.2.3'
const program = join(repositoryRoot, 'libs/testing/src/little-registry-program.ts')

/** A registry of npm and a PyPI index on loopback with nothing but these packages. */
export async function openRegistry({ npm, pypi }: Packages): Promise<PackageRegistry> {
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] })
  const end = () => child.kill('SIGKILL')
  process.once('exit', end)
  const entries = { npm: mapped(npm, npmFiles), pypi: mapped(pypi, pypiFiles) }
  child.stdin.end(JSON.stringify(entries))
  const lines = createInterface(child.stdout)
  const [line] = (await Promise.race([once(lines, 'line'), once(child, 'exit').then(() => [''])])) as [string]
  if (line === '') throw new Error('The registry of packages did not start')
  return {
    settings: JSON.parse(line) as Record<string, string>,
    close: async () => {
      process.off('exit', end)
      const gone = once(child, 'exit')
      end()
      await gone
    },
  }
}

function mapped(packages: Record<string, string>, files: (name: string, source: string) => object[]) {
  return Object.fromEntries(
    Object.entries(packages).map(([name, source]) => [name, { version, entries: files(name, source) }]),
  )
}

function npmFiles(name: string, source: string) {
  const manifest = JSON.stringify({ name, version, main: 'index.js' })
  return [
    { path: 'package/package.json', text: manifest },
    { path: 'package/index.js', text: source },
  ]
}

function pypiFiles(name: string, source: string) {
  return [{ path: `${name}/__init__.py`, text: source }]
}
