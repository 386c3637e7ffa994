import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

const versions = {
  '@restatedev/restate-server': '1.7.12',
  '@restatedev/restate-sdk': '1.17.2',
  '@dbos-inc/dbos-sdk': '5.3.0',
  'graphile-worker': '0.18.0',
  'pg-boss': '10.4.2',
}
export const n8nVersion = '2.8.4'
/** What n8n 2.8 runs on; the Node of this repository is newer than it allows. */
const n8nNodePackage = `node-${process.platform}-${process.arch}`
const n8nInstallers = { pnpm: '10.34.9', [n8nNodePackage]: '24.x' }
const n8nManifest = {
  private: true,
  dependencies: { n8n: n8nVersion },
  pnpm: {
    overrides: { xlsx: '0.18.5', '@langchain/langgraph': '1.0.2', '@langchain/langgraph-checkpoint': '1.0.0' },
  },
}

/** The version of a peer that is compared against. */
export function versionOf(peer: keyof typeof versions): string {
  return `${peer} ${versions[peer]}`
}

/**
 * Installs the peers, without install scripts, into a cache folder outside the repository; nothing to do for those that
 * are there. n8n is large (1.3 GB), so it comes only when asked for. Answers the folder.
 */
export async function installPeers(withN8n: boolean, tell: (line: string) => void): Promise<string> {
  const folder = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'process-automation-bench')
  await install(folder, { private: true, dependencies: versions }, tell, npmInstall)
  if (!withN8n) return folder
  await install(n8nTools(folder), { private: true, dependencies: n8nInstallers }, tell, npmInstall)
  await install(n8nFolder(folder), n8nManifest, tell, (cwd) => {
    const pnpm = join(n8nTools(folder), 'node_modules/pnpm/bin/pnpm.cjs')
    const args = ['install', '--ignore-scripts', '--config.node-linker=hoisted', '--no-frozen-lockfile', '--silent']
    return run(n8nNode(folder), [pnpm, ...args], cwd)
  })
  return folder
}

/** Where n8n is installed below the folder of the peers. */
export function n8nFolder(folder: string): string {
  return join(folder, 'n8n')
}

/** The Node that n8n is run by. */
export function n8nNode(folder: string): string {
  return join(n8nTools(folder), 'node_modules', n8nNodePackage, 'bin/node')
}

function n8nTools(folder: string): string {
  return join(folder, 'n8n-tools')
}

type Installer = (folder: string) => Promise<void>

async function install(
  folder: string,
  manifest: object,
  tell: (line: string) => void,
  installer: Installer,
): Promise<void> {
  const written = `${JSON.stringify(manifest, undefined, 2)}\n`
  const stamp = join(folder, 'installed.json')
  if ((await readFile(stamp, 'utf8').catch(() => '')) === written) return
  tell(`installing peers into ${folder} (once)`)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), written)
  await installer(folder)
  await writeFile(stamp, written)
}

function npmInstall(folder: string): Promise<void> {
  return run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error'], folder)
}

/** The path of a file that a peer's package exports, for import(). */
export function peerModule(folder: string, specifier: string): string {
  return createRequire(join(folder, 'package.json')).resolve(specifier)
}

async function run(file: string, args: string[], cwd: string): Promise<void> {
  const child = spawn(file, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`${file} ${args.join(' ')} in ${cwd} ended with ${code}`)
}
