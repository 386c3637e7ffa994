import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parseAst } from 'rolldown/parseAst'
import { repositoryRoot } from '../system/system.ts'
import { installedIn } from './installed.ts'

const run = promisify(execFile)
const folder = installedIn ?? ''

describe.skipIf(installedIn === undefined)('the packages', () => {
  test('the client imports nothing of Node, so that it runs in browsers, Deno and workers', async () => {
    const { body } = parseAst(await readFile(join(folder, 'node_modules/@process-automation/client/client.js'), 'utf8'))
    const imports = body.flatMap((node) => (node.type === 'ImportDeclaration' ? [node.source.value] : []))
    expect(imports).toEqual(['eventsource-parser'])
  })

  test.for(['client', 'process-types'])('%s has no fault of packing', async (name, { skip }) => {
    const publint = await installedPublint()
    if (publint === undefined) skip('the npm registry is not reached')
    const { stdout } = await run(publint!, ['run', join(folder, 'node_modules/@process-automation', name), '--strict'])
    expect(stdout).toMatch(/All good/)
  })

  test('the command line has the licences of all packages that are in it, and of no other', async () => {
    const at = join(folder, 'node_modules/@process-automation/cli')
    const { dependencies } = JSON.parse(await readFile(join(repositoryRoot, 'apps/cli/package.json'), 'utf8')) as {
      dependencies: Record<string, string>
    }
    const licences = await readFile(join(at, 'THIRD_PARTY_LICENSES'), 'utf8')
    const named = [...licences.matchAll(/^(\S+) \d+\.\d+\.\d+\nLicence: \S+$/gm)].map(([, name = '']) => name)
    const others = Object.keys(dependencies).filter((name) => !/^@(process-)?automation\//.test(name))
    expect(named).toEqual(expect.arrayContaining(others))
    expect(licences).toContain('Permission is hereby granted')
  })

  test('the examples of the guides have the types that they show', async () => {
    const at = join(folder, 'examples')
    await compile(at, 'nodenext', await writeExamples(at))
  })

  test('process code is completed and checked by global, by module and by another name; bundlers find the client', async () => {
    const at = join(folder, 'process-code')
    const sources = {
      'main.js': `
        import { storage } from 'svc'
        import again from 'svc'
        import other from 'acme'
        const { name } = svc.context.parameters
        const id = await svc.processes.run('greeting', { parameters: { name }, settings: { timeout: 1000 } })
        const object = await storage.upload('a.txt', id)
        console.log(object.size + 1, again.team.slug.length, acme.execution.process.slug, other === acme)
        // @ts-expect-error there is none
        svc.nothing
        // @ts-expect-error a number of milliseconds
        await svc.processes.run('greeting', { settings: { timeout: '1 s' } })
        export {}`,
      'bundled.ts': `
        import { Client } from '@process-automation/client'
        import { connectSandbox } from '@process-automation/client/sandbox'
        console.log(connectSandbox(new Client().sandboxes.use({} as never)).files)`,
      'acme.d.ts': `
        /// <reference types="@process-automation/process-types" />
        declare const acme: Svc.Service
        declare module 'acme' {
          export * from 'svc'
          export { default } from 'svc'
        }`,
    }
    await mkdir(at, { recursive: true })
    for (const [name, text] of Object.entries(sources)) await writeFile(join(at, name), text)
    await compile(at, 'bundler', Object.keys(sources), { allowJs: true, checkJs: true })
  })

  test('process code is checked by svc.d.ts alone, where no types of Node or of browsers are installed', async () => {
    const at = await mkdtemp(join(tmpdir(), 'automation-process-code-'))
    onTestFinished(() => rm(at, { recursive: true }))
    await cp(join(folder, 'node_modules/@process-automation/process-types/svc.d.ts'), join(at, 'svc.d.ts'))
    const source = `
      import { datastore } from 'svc'
      let size = 0
      const stream = await svc.storage.download('in.csv')
      for await (const bytes of stream.setEncoding('utf8')) size += bytes.length
      await svc.storage.upload('out.csv', [new Uint8Array(1)], { contentType: 'text/csv' })
      await datastore.set('size', size)
      // @ts-expect-error no stream has it
      stream.nothing
      // @ts-expect-error a number is no content
      await svc.storage.upload('out.csv', 1)
      export {}`
    await writeFile(join(at, 'main.js'), source)
    const alone = { lib: ['esnext'], types: [], typeRoots: [] }
    await compile(at, 'bundler', ['svc.d.ts', 'main.js'], { allowJs: true, checkJs: true, ...alone })
  })
})

test('they are made beside what is in their folder; one that is not ours is not replaced', async () => {
  const at = await mkdtemp(join(tmpdir(), 'automation-packed-'))
  onTestFinished(() => rm(at, { recursive: true }))
  const pack = () => run(process.execPath, ['scripts/pack.ts', '--out', at], { cwd: repositoryRoot })
  await mkdir(join(at, 'client'))
  for (const name of ['notes.txt', 'client/notes.txt', 'process-automation-client-0.0.1.tgz'])
    await writeFile(join(at, name), 'mine')
  await expect(pack()).rejects.toThrow(/client is no package that this command has made/)
  expect(await readFile(join(at, 'client/notes.txt'), 'utf8')).toBe('mine')
  await writeFile(join(at, 'client/package.json'), JSON.stringify({ name: '@process-automation/client' }))
  await pack()
  const { version } = JSON.parse(await readFile(join(at, 'client/package.json'), 'utf8')) as { version: string }
  const folders = ['cli', 'client', 'n8n-nodes-process-automation', 'process-types']
  const tarballs = folders.map((name) => `process-automation-${name}-${version}.tgz`)
  expect((await readdir(at)).toSorted()).toEqual(['notes.txt', ...folders, ...tarballs].toSorted())
  expect(existsSync(join(at, 'client/notes.txt'))).toBe(false)
})

/** The program, which comes from the npm registry into .cache at the first time; undefined where that is not reached. */
async function installedPublint(): Promise<string | undefined> {
  const at = join(repositoryRoot, '.cache/publint-0.3.25')
  const program = join(at, 'node_modules/.bin/publint')
  if (existsSync(program)) return program
  const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefix', at]
  return run('npm', ['install', ...options, 'publint@0.3.25']).then(
    () => program,
    () => undefined,
  )
}

/** Writes each block of TypeScript of the guides as a module; gives their names. */
async function writeExamples(at: string): Promise<string[]> {
  await mkdir(at, { recursive: true })
  const pages = ['docs/guides/typescript-client.md', 'libs/client/README.md']
  const texts = await Promise.all(pages.map((page) => readFile(join(repositoryRoot, page), 'utf8')))
  const blocks = texts.flatMap((text) => [...text.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code]) => code!))
  const given = `import type { Client as Given } from '@process-automation/client'\ndeclare global { const pas: Given }\n`
  const modules = blocks.map((code, index) => [`example-${index}.ts`, `${code}\nexport {}\n`] as const)
  for (const [name, text] of [['given.d.ts', given] as const, ...modules]) await writeFile(join(at, name), text)
  return ['given.d.ts', ...modules.map(([name]) => name)]
}

/** Rejects with what the compiler says. */
async function compile(at: string, by: string, files: string[], others: object = {}): Promise<void> {
  const compilerOptions = {
    ...{ strict: true, noEmit: true, skipLibCheck: false, target: 'esnext', lib: ['esnext', 'dom'] },
    ...{ module: by === 'nodenext' ? by : 'esnext', moduleResolution: by },
    ...{ types: ['node'], typeRoots: [join(repositoryRoot, 'node_modules/@types')], ...others },
  }
  await writeFile(join(at, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  const tsc = join(repositoryRoot, 'node_modules/.bin/tsc')
  await run(tsc, ['-p', at]).catch((error: Error & { stdout?: string }) => {
    throw new Error(error.stdout, { cause: error })
  })
}
