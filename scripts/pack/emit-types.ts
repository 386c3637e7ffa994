import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Package } from './packages.ts'

const specifier = /((?:from|import)\s*\(?\s*)(['"])([^'"]+)\2/g

/**
 * Writes the types of a package's entries and of all that these mention, below folders named as in libs/. Workspaces that
 * are not published are reached by path.
 */
export async function emitTypes(
  root: string,
  { folder, entries, typesOf = {} }: Package,
  target: string,
): Promise<void> {
  const work = await mkdtemp(join(root, 'node_modules', '.types-'))
  try {
    const sources = Object.values(entries).map((source) => join(root, folder, source))
    const others = Object.fromEntries(Object.entries(typesOf).map(([name, path]) => [name, join(root, path)]))
    await emit(root, [...sources, ...Object.values(others)], work)
    const emitted = (source: string) => join(work, relative(join(root, 'libs'), source).replace(/\.ts$/, '.d.ts'))
    const ours = new Map(Object.entries(others).map(([name, source]) => [name, emitted(source)]))
    await copyReached(sources.map(emitted), ours, (path) => join(target, relative(work, path)))
  } finally {
    await rm(work, { recursive: true })
  }
}

async function emit(root: string, files: string[], outDir: string): Promise<void> {
  const compilerOptions = {
    ...{ noEmit: false, declaration: true, emitDeclarationOnly: true, stripInternal: true },
    ...{ rootDir: join(root, 'libs'), outDir, typeRoots: [join(root, 'node_modules/@types')] },
  }
  const config = join(outDir, 'tsconfig.json')
  await writeFile(config, JSON.stringify({ extends: join(root, 'tsconfig.base.json'), compilerOptions, files }))
  await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['-p', config])
}

/** Copies files and what they import, with specifiers that resolve without our workspaces and without TypeScript sources. */
async function copyReached(
  entries: string[],
  ours: ReadonlyMap<string, string>,
  place: (path: string) => string,
): Promise<void> {
  const reached = new Set(entries)
  for (const path of reached) {
    const text = (await readFile(path, 'utf8')).replaceAll(
      specifier,
      (_, before: string, quote: string, to: string) => {
        const file =
          ours.get(to) ?? (to.startsWith('.') ? resolve(dirname(path), to.replace(/\.ts$/, '.d.ts')) : undefined)
        if (to.startsWith('@automation/') && file === undefined)
          throw new Error(
            `${path} mentions ${to}, which is not published: name it in scripts/pack/packages.ts, or hide it`,
          )
        if (file === undefined) return `${before}${quote}${to}${quote}`
        reached.add(file)
        const from = relative(dirname(path), file).replace(/\.d\.ts$/, '.js')
        return `${before}${quote}${from.startsWith('.') ? from : `./${from}`}${quote}`
      },
    )
    await mkdir(dirname(place(path)), { recursive: true })
    await writeFile(place(path), text)
  }
}
