import type { Command } from 'commander'
import { stat } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import { withParameters, readParameters, type ParameterOptions } from '../options/parameters.ts'
import { examples } from '../output/examples.ts'
import { DevLoop } from '../project/dev-loop.ts'
import { ExitError, exitCodes, usageError, type Runtime } from '../runtime.ts'

/** What is written at once, as by a checkout of git, is one change: it is over when nothing more was written for so long. */
const quietMs = 100

/** `pas dev`. */
export function register(program: Command, runtime: Runtime): void {
  const command = program
    .command('dev')
    .argument('[slug]', 'the process; the one whose folder this is, where absent')
    .description(
      `Run a process each time that a file of it is saved, with its log. A run that still goes on is killed first.

What runs is a draft: the process on the server, its webhook and its schedules stay as they are. Modules, packages and variables are those of the server. Parameters come from -f and -p, else from params/default.json beside the source. Ctrl-C kills the run and ends it, the second one at once.`,
    )
    .action(dev)
  withParameters(command)
  examples(command, 'pas dev greeting', 'pas dev greeting -f processes/greeting/params/ada.json')

  async function dev(slug: string | undefined, options: ParameterOptions): Promise<void> {
    const project = await runtime.project()
    if (project === undefined) throw usageError('There is no pas.yaml here or above: "pas init" makes one.')
    const name = slug ?? slugOfFolder(project.folder, runtime.cwd)
    const folder = join(project.folder, 'processes', name)
    if (!(await stat(folder).catch(() => undefined))?.isDirectory())
      throw usageError(
        `There is no folder processes/${name}. "pas pull" writes those of processes that the server has.`,
      )
    const [client, { context }] = await Promise.all([runtime.client(), runtime.target()])
    const loop = new DevLoop(runtime, client, {
      slug: name,
      folder,
      context,
      readParameters: () => readParameters(runtime, options),
    })
    const { watch } = await import('chokidar')
    const watcher = watch(folder, {
      ignoreInitial: true,
      ignored: (path) => basename(path).startsWith('.') || path.endsWith('.pas-new'),
    })
    let timer: NodeJS.Timeout | undefined
    watcher.on('all', () => {
      clearTimeout(timer)
      timer = setTimeout(() => loop.changed(), quietMs)
    })
    let isLeft = false
    const stopHandling = runtime.onInterrupt(() => {
      if (isLeft) process.exit(exitCodes.interrupted)
      isLeft = true
      loop.end()
    })
    try {
      await loop.run()
    } finally {
      stopHandling()
      clearTimeout(timer)
      await watcher.close()
    }
    throw new ExitError(exitCodes.interrupted)
  }
}

function slugOfFolder(folder: string, cwd: string): string {
  const [processes, slug] = relative(folder, cwd).split(sep)
  if (processes !== 'processes' || slug === undefined)
    throw usageError('Name the process, such as "pas dev greeting", or go into its folder.')
  return slug
}
