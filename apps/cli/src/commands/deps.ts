import { setTimeout as delay } from 'node:timers/promises'
import type { Client, DependencyInstall as Install, ProgrammingLanguageManifest as Manifest } from '@automation/client'
import { InvalidArgumentError, type Command } from 'commander'
import { examples } from '../output/examples.ts'
import { severalLines } from '../output/plain-text.ts'
import { exitCodes, ExitError, usageError, type Runtime } from '../runtime.ts'
import { logLine } from '../runs/show-run.ts'

type Packages = Record<string, string>

type Language = Manifest['programmingLanguage']

interface LanguageOptions {
  language: Language
}

/** `pas deps`. */
export function register(program: Command, runtime: Runtime): void {
  const { out } = runtime
  const deps = program
    .command('deps')
    .description('The packages of the team. Changes are staged; "pas deps install" brings them to runs.')
  examples(
    deps,
    'pas deps add lodash@^4',
    'pas deps install --watch',
    'pas deps add pandas -l python',
    'pas deps install --watch -l python',
  )

  const command = (name: string, text: string) =>
    deps
      .command(name)
      .description(text)
      .option('-l, --language <language>', 'javascript or python', language, 'JAVASCRIPT')
  examples(
    command('list', 'List the packages that runs see, and what is staged.')
      .option('--installs', 'list installs instead, newest first')
      .action(list),
    'pas deps list',
    'pas deps list --language python --installs',
  )
  examples(
    command('add', 'Stage packages, or other versions of them.')
      .argument('<package...>', 'such as lodash, lodash@^4, pandas==2.2')
      .action(add),
    'pas deps add lodash@^4 zod',
    'pas deps add "pandas>=2" --language python',
  )
  examples(
    command('remove', 'Stage that packages go.').argument('<package...>').action(remove),
    'pas deps remove lodash',
  )
  examples(
    command('install', 'Install what is staged. Until it is done runs see what was installed before.')
      .option('-w, --watch', 'show what the installer says, and wait for its end')
      .action(install),
    'pas deps install --watch',
    'pas deps install --watch -l python',
  )
  examples(command('discard', 'Drop what is staged.').action(discard), 'pas deps discard')
  examples(
    command('rollback', 'Have runs see the packages of an earlier install again.')
      .argument('[install]', 'id of an install; the one before the present one where absent')
      .action(rollback),
    'pas deps rollback',
  )

  async function list({ language: of, installs }: LanguageOptions & { installs?: boolean }): Promise<void> {
    const client = await runtime.client()
    if (installs) {
      const table = [
        { title: 'id', of: ({ id }: Install) => id },
        { title: 'status', of: ({ status, active }: Install) => (active ? `${status} (in use)` : status) },
        { title: 'started', of: ({ startedAt }: Install) => startedAt },
        { title: 'packages', of: ({ resolved }: Install) => Object.keys(resolved).length },
      ]
      return out.data(await installsOf(client, of), { table, empty: 'There was no install.' })
    }
    const manifest = await client.dependencies.get(of)
    if (out.json) return out.data(manifest)
    const rows = rowsOf(manifest)
    out.data(rows, {
      table: [
        { title: 'package', of: ([name]) => name },
        { title: 'version', of: ([, version]) => version },
        { title: 'staged', of: ([, , staged]) => staged },
      ],
      empty: `There are no packages. Stage some by "${line('add', of)}".`,
    })
    const { nextInstallation } = manifest
    if (nextInstallation?.status === 'PENDING') out.say(`What is staged is installed by "${line('install', of)}".`)
    if (nextInstallation?.status === 'FAILED')
      out.say(severalLines(`The last install failed: ${nextInstallation.error ?? 'no reason is known'}`))
  }

  async function add(packages: string[], { language: of }: LanguageOptions): Promise<void> {
    const wanted = Object.fromEntries(packages.map((one) => readPackage(one, of)))
    await stage(of, (present) => ({ ...present, ...wanted }))
  }

  async function remove(packages: string[], { language: of }: LanguageOptions): Promise<void> {
    await stage(of, (present) => {
      const missing = packages.filter((name) => !(name in present))
      if (missing.length > 0)
        throw usageError(`There is no package ${missing.join(', ')}. "${line('list', of)}" shows them.`)
      return Object.fromEntries(Object.entries(present).filter(([name]) => !packages.includes(name)))
    })
  }

  async function stage(of: Language, change: (present: Packages) => Packages): Promise<void> {
    const client = await runtime.client()
    const { dependencies, nextInstallation } = await client.dependencies.get(of)
    const body = { dependencies: change(nextInstallation?.dependencies ?? dependencies) }
    const data = await client.dependencies.update(of, body)
    out.done(
      data,
      data.nextInstallation === undefined ? 'Nothing changes.' : `Staged. Install it by "${line('install', of)}".`,
    )
  }

  async function install({ language: of, watch }: LanguageOptions & { watch?: boolean }): Promise<void> {
    const client = await runtime.client()
    const before = new Set((await installsOf(client, of)).map(({ id }) => id))
    await client.dependencies.install(of)
    if (watch) return watchInstall(client, of, before)
    out.done(
      { language: of, status: 'INSTALLING' },
      `Installing. Watch it by "${line('install --watch', of)}" next time, or see "${line('list', of)}".`,
    )
  }

  /** Shows the log of the install that is none of `before` until its end. */
  async function watchInstall(client: Client, of: Language, before: Set<string>): Promise<void> {
    let shown = 0
    for (;;) {
      const running = (await installsOf(client, of)).find(({ id }) => !before.has(id))
      if (running !== undefined) shown = await showLog(client, of, running.id, shown)
      if (running !== undefined && running.status !== 'INSTALLING') return endOf(running)
      // Installs take seconds to minutes; what an installer says comes in bursts.
      await delay(500)
    }
  }

  async function showLog(client: Client, of: Language, id: string, from: number): Promise<number> {
    const entries = await client.dependencies.installLogs(of, id).toArray()
    for (const entry of entries.slice(from)) {
      if (out.json) out.line({ type: 'log', ...entry })
      else out.say(logLine(runtime, entry))
    }
    return entries.length
  }

  function endOf({ id, status, error, resolved }: Install): void {
    if (out.json) out.line({ type: 'end', id, status, resolved, error })
    if (status === 'FAILED')
      throw new ExitError(exitCodes.refused, `The install failed: ${error ?? 'no reason is known'}`, {
        reason: 'install_failed',
      })
    if (!out.json)
      out.say(
        `Installed: ${
          Object.entries(resolved)
            .map(([name, version]) => `${name} ${version}`)
            .join(', ') || 'no packages'
        }.`,
      )
  }

  async function discard({ language: of }: LanguageOptions): Promise<void> {
    const data = await (await runtime.client()).dependencies.discard(of)
    out.done(data, 'What was staged is dropped.')
  }

  async function rollback(id: string | undefined, { language: of }: LanguageOptions): Promise<void> {
    const client = await runtime.client()
    const installId = id ?? (await installBefore(client, of))
    const data = await client.dependencies.rollback(of, { installId })
    out.done(data, `Runs see the packages of the install ${installId} again.`)
  }
}

/** A command line for packages of a language. */
function line(command: string, of: Language): string {
  return `pas deps ${command}${of === 'PYTHON' ? ' -l python' : ''}`
}

async function installsOf(client: Client, language: Language): Promise<Install[]> {
  return client.dependencies.installs(language).toArray()
}

async function installBefore(client: Client, language: Language): Promise<string> {
  const done = (await installsOf(client, language)).filter(({ status }) => status === 'INSTALLED')
  const before = done[done.findIndex(({ active }) => active) + 1]
  if (before === undefined)
    throw new ExitError(
      exitCodes.refused,
      `There is no earlier install. "${line('list --installs', language)}" shows all.`,
    )
  return before.id
}

function rowsOf({ dependencies, nextInstallation }: Manifest): [name: string, version?: string, staged?: string][] {
  const staged = nextInstallation?.dependencies ?? dependencies
  const names = [...new Set([...Object.keys(dependencies), ...Object.keys(staged)])].toSorted()
  return names.map((name) => {
    const change =
      staged[name] === undefined ? 'removed' : staged[name] === dependencies[name] ? undefined : staged[name]
    return [name, dependencies[name], change]
  })
}

/** A package as its registry's tools write it: `name@range` of npm, `name==version` and the like of PyPI. */
function readPackage(text: string, language: Language): [name: string, version: string] {
  const form =
    language === 'PYTHON' ? /^([A-Za-z0-9._-]+(?:\[[^\]]*\])?)\s*((?:[=<>!~]=?|===).*)?$/ : /^(@?[^@]+)(?:@(.+))?$/
  const [, name, version] = form.exec(text) ?? []
  if (name === undefined) throw usageError(`"${text}" names no package. Examples: lodash@^4 (npm), pandas==2.2 (PyPI)`)
  return [name, version ?? '*']
}

function language(text: string): Language {
  const found = (['JAVASCRIPT', 'PYTHON'] as const).find(
    (one) => text !== '' && (one.startsWith(text.toUpperCase()) || (text === 'js' && one === 'JAVASCRIPT')),
  )
  if (found === undefined) throw new InvalidArgumentError('A language is javascript or python.')
  return found
}
