import { type Command, Option } from 'commander'
import { examples } from '../output/examples.ts'
import { oneLine } from '../output/plain-text.ts'
import { leftBefore, removeResolved, resolving } from '../project/resolve-clashes.ts'
import { compareProject, itemsBelow, openProject } from '../project/open-project.ts'
import { pullTeam, type Pulled } from '../project/pull-team.ts'
import { importLayout } from '../project/import-layout.ts'
import { ExitError, exitCodes, usageError, type Runtime } from '../runtime.ts'

interface PullOptions {
  theirs?: boolean
  ours?: boolean
  fromLayout?: string | true
}

const words: Readonly<Record<Pulled['result'], string>> = {
  took: 'took',
  merged: 'merged',
  removed: 'removed',
  kept: 'kept',
  clash: 'clash',
  uncommitted: 'left',
}

/** `pas pull`. */
export function register(program: Command, runtime: Runtime): void {
  const command = program
    .command('pull')
    .argument('[path]', 'only what is at or below this path')
    .description(
      `Take into the files what was changed on the server.

Changes of both sides are merged. Where both have changed the same, the file stays, what the server has is written beside it (main.js.remote), and it ends with 3: merge by hand and remove that file, or choose a side. What git does not have is never overwritten.`,
    )
    .addOption(new Option('--theirs', 'where both have changed the same, take what the server has').conflicts('ours'))
    .addOption(new Option('--ours', 'where both have changed the same, keep what is here').conflicts('theirs'))
    .option('--from-layout [folder]', 'read a repository of the hosted service in place of a server')
    .action(pull)
  examples(command, 'pas pull', 'pas pull processes/greeting --theirs', 'pas pull --from-layout ../old-repository')

  async function pull(path: string | undefined, options: PullOptions): Promise<void> {
    if (options.fromLayout !== undefined) return importFrom(options.fromLayout === true ? '.' : options.fromLayout)
    const side = options.theirs ? 'theirs' : options.ours ? 'ours' : undefined
    runtime.out.goesOnUnread = true
    const project = await openProject(runtime)
    const isWanted = path === undefined ? undefined : itemsBelow(project, runtime.cwd, path)
    const compared = await compareProject(project, isWanted)
    const comparisons = side === undefined ? compared.comparisons : resolving(project, compared.comparisons)
    const pulled = await pullTeam(project, { ...compared, comparisons }, side)
    if (side !== undefined) await removeResolved(project, comparisons, pulled)
    else pulled.push(...leftBefore(project, comparisons, pulled))
    for (const each of pulled) runtime.out.line({ type: 'change', ...each }, lineOf(each))
    runtime.out.line({ type: 'end', done: pulled.length })
    if (pulled.length === 0) runtime.out.say('Nothing on the server has changed.')
    throwWhereLeft(pulled)
  }

  async function importFrom(from: string): Promise<void> {
    const project = await runtime.project()
    if (project === undefined) throw usageError('There is no pas.yaml here or above: "pas init" makes one.')
    const { written, kept } = await importLayout(project.folder, from, runtime.cwd)
    for (const path of written) runtime.out.line({ type: 'change', result: 'took', path }, `took  ${path}`)
    for (const path of kept)
      runtime.out.line({ type: 'change', result: 'kept', path }, `kept  ${path}, which is there already`)
  }
}

function lineOf({ result, key, path, updatedBy, updatedAt }: Pulled): string {
  const by = updatedBy === undefined ? '' : ` (by ${updatedBy}${updatedAt === undefined ? '' : ` at ${updatedAt}`})`
  const where =
    result === 'uncommitted'
      ? `: git does not have ${path} as it is; commit it first`
      : path === undefined
        ? result === 'clash'
          ? ': changed here and removed on the server; choose --theirs or --ours'
          : ''
        : `: what the server has is in ${path}`
  return oneLine(`${words[result].padEnd(7)} ${key}${by}${where}`)
}

function throwWhereLeft(pulled: readonly Pulled[]): void {
  const clashes = pulled.filter(({ result }) => result === 'clash')
  const left = pulled.filter(({ result }) => result === 'uncommitted')
  if (clashes.length > 0)
    throw new ExitError(
      exitCodes.conflict,
      `${clashes.length === 1 ? 'One item clashes' : `${clashes.length} items clash`}. Merge by hand and remove the files that end in .remote, or pull again with --theirs or --ours.`,
      { errors: clashes.map(({ key, path = '' }) => ({ path: key, message: path })) },
    )
  if (left.length > 0)
    throw new ExitError(exitCodes.conflict, 'Commit the files that are named, then pull again.', {
      errors: left.map(({ key, path = '' }) => ({ path: key, message: path })),
    })
}
