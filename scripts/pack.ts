import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'rolldown'
import { readArguments } from './arguments.ts'
import { emitTypes } from './pack/emit-types.ts'
import { licencesOf } from './pack/licences.ts'
import { packages, type Package } from './pack/packages.ts'

const help = `npm run pack:clients [-- --out FOLDER]

Makes the packages for users: their folders and their tarballs, in dist/ unless told otherwise. Nothing is published.
`

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const run = promisify(execFile)

interface Manifest {
  name?: string
  version: string
  license?: string
  private?: boolean
  dependencies?: Record<string, string>
}

/**
 * Makes all packages; gives their tarballs by name. What it has made there before goes, and nothing else: rejects where a
 * folder with the name of a package is somebody else's.
 */
export async function pack(out: string): Promise<Map<string, string>> {
  await removeMade(out)
  const made = await Promise.all(packages.map(async (one) => [one.name, await packOne(one, out)] as const))
  return new Map(made)
}

async function removeMade(out: string): Promise<void> {
  await mkdir(out, { recursive: true })
  const present = await readdir(out)
  const folders = packages.filter((one) => present.includes(folderOf(one)))
  for (const one of folders) {
    const folder = join(out, folderOf(one))
    const isMade = existsSync(join(folder, 'package.json')) && (await manifestIn(folder)).name === one.name
    if (!isMade) throw new Error(`${folder} is no package that this command has made: name another folder by --out`)
  }
  const tarballs = present.filter((name) => /^process-automation-.*\.tgz$/.test(name))
  for (const name of [...folders.map(folderOf), ...tarballs])
    await rm(join(out, name), { recursive: true, force: true })
}

const folderOf = ({ name }: Package) => name.split('/').at(-1)!

async function packOne(one: Package, out: string): Promise<string> {
  const folder = join(out, folderOf(one))
  await mkdir(folder, { recursive: true })
  // What is not ready is known for ours as well.
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: one.name }))
  const imported = await bundle(one, folder)
  if (one.typesOf !== undefined) await emitTypes(root, one, join(folder, 'types'))
  const own = join(root, one.folder)
  for (const [to, from] of Object.entries({ 'README.md': 'README.md', ...one.files }))
    await cp(join(own, from), join(folder, to))
  await cp(join(one.manifest === undefined ? own : root, 'LICENSE'), join(folder, 'LICENSE'))
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(await manifestOf(one, imported), null, 2)}\n`)
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', out], { cwd: folder })
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }]
  return join(out, filename)
}

/**
 * Writes its entries, with our own packages in them and the licences of those of others that are; gives the packages of
 * others that they import.
 */
async function bundle(
  { folder, entries, bundles = 'ours', format = 'esm' }: Package,
  target: string,
): Promise<Set<string>> {
  if (Object.keys(entries).length === 0) return new Set()
  const isOthers = (id: string) => !/^([./]|@automation\/)/.test(id)
  const { output } = await build({
    cwd: join(root, folder),
    input: { ...entries },
    platform: 'node',
    external: (id) => id.startsWith('node:') || (bundles === 'ours' && isOthers(id)),
    output: { dir: target, format, entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
  })
  const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
  const licences = await licencesOf(modules)
  if (licences !== undefined) await writeFile(join(target, 'THIRD_PARTY_LICENSES'), licences)
  const imports = output.flatMap((file) => (file.type === 'chunk' ? [...file.imports, ...file.dynamicImports] : []))
  const isPackage = (id: string) => !id.startsWith('node:') && !id.endsWith('.js')
  return new Set(imports.filter(isPackage).map((id) => id.split('/', id.startsWith('@') ? 2 : 1).join('/')))
}

async function manifestOf({ folder, name, description, manifest }: Package, imported: Set<string>) {
  const { version, license } = await manifestAt('.')
  if (manifest === undefined) {
    const { private: _, ...own } = await manifestAt(folder)
    return { ...own, version }
  }
  const known = { ...(await dependenciesBelow('libs')), ...(await manifestAt(folder)).dependencies }
  const dependencies = Object.fromEntries([...imported].toSorted().map((one) => [one, versionOf(one, known)]))
  return {
    ...{ name, version, description, license, type: 'module', ...manifest },
    ...(imported.size > 0 && { dependencies }),
  }
}

/** The versions that our own packages, which are in the bundles, ask for. */
async function dependenciesBelow(folder: string): Promise<Record<string, string>> {
  const names = ['contract', 'errors', 'rpc']
  const manifests = await Promise.all(names.map((name) => manifestAt(`${folder}/${name}`)))
  return Object.assign({}, ...manifests.map(({ dependencies }) => dependencies)) as Record<string, string>
}

function versionOf(name: string, known: Readonly<Record<string, string>>): string {
  const version = known[name]
  if (version === undefined) throw new Error(`${name} is imported, but no workspace declares it`)
  return `^${version}`
}

const manifestAt = (folder: string) => manifestIn(join(root, folder))

async function manifestIn(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = readArguments(help, { out: { type: 'string' } })
  for (const tarball of (await pack(resolve(values.out ?? join(root, 'dist')))).values()) console.log(tarball)
}
