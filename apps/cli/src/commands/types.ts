import type { Command } from 'commander'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { examples } from '../output/examples.ts'
import { readCheckout, readText, writeCheckout } from '../project/checkout.ts'
import { writeEditorSchemas } from '../project/editor-files.ts'
import { pythonTypes, typeScriptTypes } from '../project/parameter-types.ts'
import { projectItems } from '../project/project-items.ts'
import { usageError, type Runtime } from '../runtime.ts'
import { join } from 'node:path'

/** What editors take as the project of JavaScript sources. */
const jsconfig = {
  compilerOptions: { module: 'esnext', moduleResolution: 'bundler', target: 'es2024', checkJs: true, noEmit: true },
  include: ['types/*.d.ts', 'processes', 'modules'],
}

/** `pas types`. */
export function register(program: Command, runtime: Runtime): void {
  const command = program
    .command('types')
    .description(
      `Write what editors complete and check by: schemas/ for the files of this repository, types/ with svc and with the parameters of each process.`,
    )
    .action(types)
  examples(command, 'pas types')

  async function types(): Promise<void> {
    const project = await runtime.project()
    if (project === undefined) throw usageError('There is no pas.yaml here or above: "pas init" makes one.')
    const { folder } = project
    const { items } = projectItems(await readCheckout(folder))
    const schemas = Object.fromEntries(
      [...items.values()].flatMap((item) =>
        item.kind === 'process' ? [[item.name, item.state.parametersSchema]] : [],
      ),
    )
    const files = new Map([
      ['types/parameters.d.ts', typeScriptTypes(schemas)],
      ['types/parameters.pyi', pythonTypes(schemas)],
      ['types/svc.d.ts', await typesOfSvc('svc.d.ts')],
      ['types/svc.pyi', await typesOfSvc('svc.pyi')],
    ])
    if ((await readText(join(folder, 'jsconfig.json'))) === undefined)
      files.set('jsconfig.json', `${JSON.stringify(jsconfig, null, 2)}\n`)
    for (const [path, text] of files) await writeCheckout(folder, path, text)
    const written = [...(await writeEditorSchemas(folder)), ...files.keys()]
    runtime.out.data({ written }, { text: written.join('\n') })
  }
}

/** The types of `svc`: the installed program has them beside itself, a clone in their workspace. */
async function typesOfSvc(name: string): Promise<string> {
  const beside = await readText(fileURLToPath(new URL(name, import.meta.url)))
  return beside ?? readFile(fileURLToPath(import.meta.resolve(`@automation/process-types/${name}`)), 'utf8')
}
