import { join, resolve } from 'node:path'
import { usageError } from '../runtime.ts'
import { filesBelow, readText, refuseLink, writeCheckout } from './checkout.ts'
import { newYaml } from './edit-yaml.ts'
import type { Files } from './process-folder.ts'

/**
 * Reads a repository of the hosted service into a project. Files that are there already stay. Values of its variables are
 * named, not taken: they may be secrets.
 */
export async function importLayout(
  folder: string,
  from: string,
  cwd: string,
): Promise<{ written: string[]; kept: string[] }> {
  const source = resolve(cwd, from)
  const files = importedFiles(await readFolder(source))
  if (files.size === 0)
    throw usageError(`${source} has no processes/SLUG/index.js or main.py: it is no repository of the hosted service.`)
  const written: string[] = []
  const kept: string[] = []
  for (const [path, text] of files) {
    if ((await readText(join(folder, path))) === undefined) {
      await writeCheckout(folder, path, text)
      written.push(path)
    } else kept.push(path)
  }
  return { written, kept }
}

const names: readonly [from: RegExp, to: string][] = [
  [/^processes\/([^/]+)\/index\.js$/, 'processes/$1/main.js'],
  [/^processes\/([^/]+)\/(main\.py|README\.md)$/, 'processes/$1/$2'],
  [/^processes\/([^/]+)\/parametersSchema\.json$/, 'processes/$1/parameters.schema.json'],
  [/^processes\/([^/]+)\/parameters\.json$/, 'processes/$1/params/default.json'],
  [/^modules\/([^/]+)\/index\.js$/, 'modules/$1.js'],
  [/^modules\/([^/]+)\/(?:main|index)\.py$/, 'modules/$1.py'],
  [/^(dependencies\/(?:package\.json|requirements\.txt))$/, '$1'],
]

/** The files of a project that files of the hosted layout stand for. */
function importedFiles(files: Files): Map<string, string> {
  const imported = new Map<string, string>()
  for (const [path, text] of files) {
    const row = names.find(([from]) => from.test(path))
    if (row && text !== '') imported.set(path.replace(...row), text)
  }
  const variables = files.get('variables.env')
  if (variables !== undefined && imported.size > 0) imported.set('variables.yaml', variablesFile(variables))
  return imported
}

function variablesFile(text: string): string {
  const keys = text
    .split('\n')
    .flatMap((line) => /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=/.exec(line)?.[1] ?? [])
  const values = Object.fromEntries(keys.map((key) => [key, { env: key }]))
  return newYaml(' Values that are no secrets may stand here in place of { env: NAME }.', values)
}

const isRead = (path: string) => names.some(([from]) => from.test(path))

async function readFolder(folder: string): Promise<Files> {
  const isMeant = (path: string) => isRead(path) || /^(?:processes|modules)\/[^/]+$/.test(path)
  const folders = ['processes', 'modules', 'dependencies']
  const found = await Promise.all(folders.map((name) => filesBelow(folder, name, isMeant)))
  await refuseLink(folder, 'variables.env')
  const files = new Map<string, string>()
  for (const path of [...found.flat().filter(isRead), 'variables.env']) {
    const text = await readText(join(folder, path))
    if (text !== undefined) files.set(path, text)
  }
  return files
}
