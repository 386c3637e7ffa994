import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

const versions = {
  '@restatedev/restate-server': '1.7.12',
  '@restatedev/restate-sdk': '1.17.2',
  'graphile-worker': '0.18.0',
}

/** The version of a peer that is compared against. */
export function versionOf(peer: keyof typeof versions): string {
  return `${peer} ${versions[peer]}`
}

/**
 * Installs the peers with npm, without install scripts, into a cache folder outside the repository; nothing to do when
 * they are there. Answers the folder.
 */
export async function installPeers(tell: (line: string) => void): Promise<string> {
  const folder = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'process-automation-bench')
  const manifest = `${JSON.stringify({ private: true, dependencies: versions }, undefined, 2)}\n`
  const stamp = join(folder, 'installed.json')
  if ((await readFile(stamp, 'utf8').catch(() => '')) === manifest) return folder
  tell(`installing the peers into ${folder} (once)`)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), manifest)
  await npm(['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error'], folder)
  await writeFile(stamp, manifest)
  return folder
}

/** The path of a file that a peer's package exports, for import(). */
export function peerModule(folder: string, specifier: string): string {
  return createRequire(join(folder, 'package.json')).resolve(specifier)
}

async function npm(args: string[], cwd: string): Promise<void> {
  const child = spawn('npm', args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`npm ${args.join(' ')} in ${cwd} ended with ${code}`)
}
