import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** Packages by their paths below the root, and the links by which workspaces are found among them. */
export interface PackageTable {
  packages: string[]
  links: { path: string; to: string }[]
}

interface Manifest {
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

/** A package and all that it depends on, as Node finds it. Throws when one is not installed. */
export function packageTable(folder: string, root: string): PackageTable {
  const packages = new Set<string>()
  const links = new Map<string, string>()
  const open = [folder]
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    const path = relative(root, each)
    if (packages.has(path)) continue
    packages.add(path)
    const { dependencies = {}, optionalDependencies = {} } = manifestOf(each)
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      // Types are read by no program.
      if (name.startsWith('@types/')) continue
      const found = findPackage(name, each, root)
      if (found === undefined && name in optionalDependencies) continue
      if (found === undefined) throw new Error(`The package ${name} of ${path} is not installed`)
      const real = realpathSync(found)
      if (real !== found) links.set(relative(root, found), relative(root, real))
      open.push(real)
    }
  }
  const all = [...packages].toSorted()
  return {
    // What lies in another comes with it.
    packages: all.filter((path) => !all.some((other) => path.startsWith(`${other}/`))),
    links: [...links].map(([path, to]) => ({ path, to })),
  }
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

function findPackage(name: string, from: string, root: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, 'node_modules', name)
    if (existsSync(join(path, 'package.json'))) return path
    if (relative(root, folder) === '' || folder === dirname(folder)) return undefined
  }
}
