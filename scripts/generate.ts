import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, glob, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readArguments } from './arguments.ts'
import { pythonModels } from './generate/python-models.ts'
import { referencePages } from './generate/reference.ts'
import { restInterface } from './generate/rest-interface.ts'

const help = `npm run generate [-- --check]

Makes what is generated and committed: messages and services from proto/ (libs/contract/gen), and the Prisma clients
from apps/*/prisma/schema.prisma (apps/*/prisma/generated); and in docs/ the reference of settings, commands,
metrics and the chart's values, the index of decisions, and the OpenAPI document, with the types of its records for the
tests in e2e/generated.

  --check   change nothing; say which committed files differ from what would be generated, and fail then
`

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const bin = join(root, 'node_modules/.bin')
const contract = 'libs/contract/gen'

/** Generates everything into `target`, which is the repository or a copy of its sources. */
async function generate(target: string): Promise<string[]> {
  const schemas = await Array.fromAsync(glob('apps/*/prisma/schema.prisma', { cwd: root }))
  await Promise.all([
    run('buf', ['generate', '--output', target], root),
    ...schemas.map((schema) => run('prisma', ['generate', '--schema', schema], target)),
  ])
  return [contract, ...schemas.map((schema) => join(dirname(schema), 'generated'))]
}

/** The files that differ between two generated folders, by path from the root. */
async function drift(fresh: string): Promise<string[]> {
  await copySources(fresh)
  const folders = await generate(fresh)
  const faults = await Promise.all(folders.map((folder) => differences(folder, fresh)))
  return faults.flat()
}

async function copySources(fresh: string): Promise<void> {
  const schemas = await Array.fromAsync(glob('apps/*/prisma/{*.prisma,*.ts}', { cwd: root }))
  await Promise.all([...schemas, 'package.json', 'prisma.config.ts'].map((path) => copyIfThere(path, fresh)))
  await symlink(join(root, 'node_modules'), join(fresh, 'node_modules'))
}

async function copyIfThere(path: string, fresh: string): Promise<void> {
  await cp(join(root, path), join(fresh, path)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
}

async function differences(folder: string, fresh: string): Promise<string[]> {
  const [committed, generated] = await Promise.all([filesOf(join(root, folder)), filesOf(join(fresh, folder))])
  const paths = [...new Set([...committed.keys(), ...generated.keys()])].toSorted()
  return paths.flatMap((path) => {
    const here = committed.get(path)
    const there = generated.get(path)
    if (here === there) return []
    return [
      `${join(folder, path)} ${here === undefined ? 'is missing' : there === undefined ? 'is left over' : 'differs'}`,
    ]
  })
}

async function filesOf(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw error
    },
  )
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return new Map(
    await Promise.all(paths.map(async (path) => [relative(folder, path), await readFile(path, 'utf8')] as const)),
  )
}

/** Runs a program of the project's dependencies; its output is shown when it fails. */
async function run(program: string, args: string[], cwd: string): Promise<void> {
  const child = spawn(join(bin, program), args, {
    cwd,
    // Prisma asks for its schema engine to be there, and downloads it where it is not; generating needs none.
    env: {
      ...process.env,
      PATH: `${bin}${delimiter}${process.env['PATH']}`,
      PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true',
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}:\n${output}`)
}

/** What is made of the running code: path from the root, and text. */
async function texts(): Promise<[path: string, text: string][]> {
  const [pages, rest] = await Promise.all([referencePages(root), restInterface(root)])
  return [pages, rest, pythonModels(rest.get('docs/reference/openapi.json')!)].flatMap((files) => [...files])
}

async function textDrift(): Promise<string[]> {
  const pages = await texts()
  const committed = await Promise.all(pages.map(([path]) => readFile(join(root, path), 'utf8').catch(() => undefined)))
  return pages.flatMap(([path, text], index) => (committed[index] === text ? [] : [`${path} differs`]))
}

async function check(): Promise<number> {
  const fresh = await mkdtemp(join(root, 'node_modules', '.generate-'))
  try {
    const faults = (await Promise.all([drift(fresh), textDrift()])).flat()
    for (const fault of faults) console.error(fault)
    return faults.length === 0 ? 0 : 1
  } finally {
    await rm(fresh, { recursive: true })
  }
}

const { values } = readArguments(help, { check: { type: 'boolean' } })
if (values.check) process.exitCode = await check()
else {
  for (const folder of await generate(root)) console.log(`generated ${folder}`)
  for (const [path, text] of await texts()) {
    await writeFile(join(root, path), text)
    console.log(`generated ${path}`)
  }
}
