import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Lab } from '../lab.ts'
import { openOurs, type Language, type Ours } from './ours.ts'
import { python } from './python.ts'

const run = promisify(execFile)
const settings = ['NPM_REGISTRY', 'PYPI_INDEX_URL', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE']

/** What comes from a registry is fetched once for all repeats. */
const fetched = new WeakMap<Lab, Map<string, Promise<string>>>()

function once(lab: Lab, name: string, make: () => Promise<string>): Promise<string> {
  const made = fetched.get(lab) ?? new Map<string, Promise<string>>()
  fetched.set(lab, made)
  const value = made.get(name) ?? make()
  made.set(name, value)
  return value
}

/** The system on a folder that keeps the packages that it has installed, with the environment's registries. */
export async function openWithPackages(lab: Lab): Promise<Ours> {
  const registries = settings.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []))
  const folder = await once(lab, 'ours', () => lab.folder('ours'))
  return await openOurs(lab, Object.fromEntries(registries) as Record<string, string>, folder)
}

/** Installs a package by npm or pip for plain interpreters; answers the folder. */
export function installPlain(lab: Lab, language: Language, name: string): Promise<string> {
  return once(lab, name, async () => {
    const folder = await lab.folder('packages')
    if (language === 'PYTHON') await run(python().file, ['-m', 'pip', 'install', '--target', folder, name])
    else await run('npm', ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', name])
    return folder
  })
}
