import { checkValue, type Fault } from './check-value.ts'
import { isRecord } from './canonical-json.ts'
import { readYaml } from './edit-yaml.ts'
import { projectFileSchema, variablesFileSchema } from './file-schemas.ts'
import { packageFiles, readPackages } from './package-files.ts'
import { readProcessFolder, type Files } from './process-folder.ts'
import { keys, type Item, type Items, type Language, type VariableState } from './states.ts'
import { stripTypes } from './strip-types.ts'

/** What the files of a project say for one context. */
interface ProjectItems {
  items: Items
  faults: Fault[]
}

const moduleForm = /^modules\/([^/]+)\.(js|ts|py)$/

/** Reads all items of the files. What has a fault is left out and told. */
export function projectItems(files: Files, context?: string): ProjectItems {
  const items: Item[] = []
  const faults: Fault[] = []
  const attempt = (path: string, work: () => Item[]) => {
    try {
      items.push(...work())
    } catch (error) {
      faults.push({ path, message: (error as Error).message })
    }
  }
  const slugs = new Set<string>()
  for (const [path, text] of files) {
    const [folder, slug, inner] = path.split('/')
    if (folder === 'processes' && slug !== undefined && inner !== undefined) slugs.add(slug)
    const [, name, extension] = moduleForm.exec(path) ?? []
    const script = `modules/${name}.js`
    if (extension === 'ts' && files.has(script))
      faults.push({ path, message: `${script} is the same module: keep one of the two` })
    else if (name !== undefined) attempt(path, () => [moduleItem(name, extension!, text)])
    if (path === 'variables.yaml') attempt(path, () => variableItems(text, context))
    if (path === 'pas.yaml') attempt(path, () => teamItems(text))
    for (const language of ['JAVASCRIPT', 'PYTHON'] as const)
      if (path === packageFiles[language]) attempt(path, () => [packagesItem(language, text)])
  }
  for (const slug of slugs) {
    const folder = readProcessFolder(files, slug, context)
    items.push(...folder.items)
    faults.push(...folder.faults)
  }
  return { items: new Map(items.map((item) => [item.key, item])), faults }
}

/** The paths that an item is made of: files, or a folder that ends in `/`. */
export function pathsOfItem(key: string): string[] {
  const [kind, name = ''] = key.split('/')
  if (kind === 'module')
    return name.endsWith('.js') ? [`modules/${name}`, `modules/${name.slice(0, -2)}ts`] : [`modules/${name}`]
  if (kind === 'packages') return [packageFiles[name.toUpperCase() as Language]]
  if (kind === 'variable') return ['variables.yaml']
  if (kind === 'team') return ['pas.yaml']
  return [`processes/${name}/`]
}

function moduleItem(name: string, extension: string, text: string): Item {
  const language: Language = extension === 'py' ? 'PYTHON' : 'JAVASCRIPT'
  const sourceCode = extension === 'ts' ? stripTypes(text) : text
  return { kind: 'module', key: keys.module(language, name), name, state: { language, sourceCode } }
}

function packagesItem(language: Language, text: string): Item {
  return { kind: 'packages', key: keys.packages(language), name: language, state: readPackages(language, text) }
}

/** Reads a variables.yaml without faults for a context, with values as they are written there. */
export function readVariables(text: string, context?: string): Record<string, unknown> {
  return inContext(readYaml(text, 'texts'), context)
}

function inContext(value: unknown, context?: string): Record<string, unknown> {
  const { contexts, ...common } = value as Record<string, unknown>
  const ofContext = context !== undefined && isRecord(contexts) ? contexts[context] : undefined
  return { ...common, ...(isRecord(ofContext) ? ofContext : {}) }
}

function variableItems(text: string, context?: string): Item[] {
  const values = readYaml(text)
  const faults = checkValue(values, variablesFileSchema)
  if (faults.length > 0) throw new Error(faults.join('; '))
  const former = inContext(values, context)
  return Object.entries(readVariables(text, context)).map(([name, value]): Item => {
    const secret = isRecord(value) ? value['env'] : undefined
    if (isRecord(value) && typeof secret !== 'string') throw new Error(`${name} must be a text, or { env: NAME }`)
    const state: VariableState =
      typeof secret === 'string' ? { value: null, isSensitive: true } : { value: value as string, isSensitive: false }
    const named = typeof secret === 'string' ? { secret } : formerly(former[name], value)
    return { kind: 'variable', key: keys.variable(name), name, state, ...named }
  })
}

/** An unquoted value was once pushed as YAML reads it: 1.10 as 1.1. */
function formerly(value: unknown, written: unknown): { formerState?: VariableState } {
  if (value === undefined || value === written) return {}
  const parsed = typeof value === 'object' ? Number(JSON.stringify(value)) : (value as string | number | boolean)
  return { formerState: { value: String(parsed), isSensitive: false } }
}

function teamItems(text: string): Item[] {
  const value = readYaml(text)
  const faults = checkValue(value, projectFileSchema)
  if (faults.length > 0) throw new Error(faults.join('; '))
  const team = (value as Record<string, unknown>)['team']
  if (!isRecord(team)) return []
  const handler = team['errorHandler']
  const state = {
    ...(typeof team['zoneId'] === 'string' && { zoneId: team['zoneId'] }),
    ...(handler === null && { errorHandler: null }),
    ...(isRecord(handler) && {
      errorHandler: { process: String(handler['process']), tag: (handler['tag'] as string | undefined) ?? null },
    }),
  }
  return Object.keys(state).length === 0 ? [] : [{ kind: 'team', key: keys.team, name: 'team', state }]
}
