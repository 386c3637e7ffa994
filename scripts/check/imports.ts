import { readFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { isBuiltin } from 'node:module'
import { parseSync } from 'vite'
import { kindOf, refusal, projectOf, type Project } from '../boundaries.ts'

export interface SourceFile {
  /** Path from the root, with forward slashes. */
  path: string
  text: string
}

/** What the package.json of a project says that it needs. */
export type Declared = (folder: string) => Promise<ReadonlySet<string>>

/**
 * Every import of the files, static or dynamic, against the table of boundaries and against the package.json of the
 * importing workspace. One line per fault, `path: what`; empty when all is well.
 */
export async function importFaults(files: SourceFile[], declared: Declared): Promise<string[]> {
  const faults = await Promise.all(files.map((file) => faultsOf(file, declared)))
  return faults.flat()
}

async function faultsOf({ path, text }: SourceFile, declared: Declared): Promise<string[]> {
  const project = projectOf(path)
  if (project === undefined)
    return path.includes('/') ? [`${path}: no row of scripts/boundaries.ts covers this folder; add one`] : []
  const packages = await declared(project.folder)
  return importsOf(path, text)
    .flatMap((specifier) => faultOf(project, path, specifier, packages))
    .map((fault) => `${path}: ${fault}`)
}

function faultOf(project: Project, path: string, specifier: string, packages: ReadonlySet<string>): string[] {
  const kind = kindOf(path)
  if (specifier.startsWith('.')) return listed(refusal(project, kind, { path: join(dirname(path), specifier) }))
  if (isBuiltin(specifier)) return []
  const name = packageOf(specifier)
  const refused = refusal(project, kind, { package: name })
  if (refused !== undefined) return [refused]
  // Tests and scripts reach ours through the root's install; to declare them would close circles.
  const undeclared = kind === 'test' || project.folder === 'scripts'
  if (undeclared && name.startsWith('@automation/')) return []
  return packages.has(name) ? [] : [`imports ${name}, which ${project.folder}/package.json doesn't declare`]
}

const listed = (fault: string | undefined) => (fault === undefined ? [] : [fault])

const packageOf = (specifier: string) => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')

function importsOf(path: string, text: string): string[] {
  const { module } = parseSync(path, text)
  const dynamic = module.dynamicImports.map(({ moduleRequest }) => text.slice(moduleRequest.start, moduleRequest.end))
  return [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) => entries.flatMap((entry) => entry.moduleRequest?.value ?? [])),
    ...dynamic.flatMap((expression) => /^['"`]([^'"`$]+)['"`]$/.exec(expression)?.[1] ?? []),
  ]
}

/** Reads package.json of a workspace once: its dependencies of every kind, itself, and the root's, which tests share. */
export function declaredIn(root: string): Declared {
  const read = new Map<string, Promise<Set<string>>>()
  const dependenciesOf = (folder: string): Promise<Set<string>> => {
    const known = read.get(folder)
    if (known !== undefined) return known
    const reading = readDependencies(resolve(root, folder, 'package.json'))
    read.set(folder, reading)
    return reading
  }
  return async (folder) => {
    const [own, shared] = await Promise.all([
      folder.startsWith('scripts') ? new Set<string>() : dependenciesOf(folder),
      dependenciesOf('.'),
    ])
    return own.union(shared)
  }
}

async function readDependencies(path: string): Promise<Set<string>> {
  const { name, dependencies, devDependencies, peerDependencies } = JSON.parse(await readFile(path, 'utf8')) as {
    name: string
    dependencies?: Record<string, string>
    devDependencies?: Record<string, string>
    peerDependencies?: Record<string, string>
  }
  return new Set([name, ...Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies })])
}

/** The hand-written TypeScript and JavaScript files of the given list of paths, read. */
export function readSources(root: string, paths: string[]): Promise<SourceFile[]> {
  const wanted = paths.filter((path) => /\.(ts|tsx|mts|js|mjs)$/.test(path) && !/(^|\/)(gen|generated)\//.test(path))
  return Promise.all(
    wanted.map(async (path) => ({ path: relative('.', path), text: await readFile(resolve(root, path), 'utf8') })),
  )
}
