import type { Command } from 'commander'
import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { examples } from '../output/examples.ts'
import { withCronFaults } from '../project/cron-faults.ts'
import { itemsBelow, makePlan, openProject } from '../project/open-project.ts'
import { isToDo, type Plan } from '../project/plan.ts'
import { planMarkdown, planText } from '../project/plan-text.ts'
import { unsetSecrets } from '../project/push-plan.ts'
import { ExitError, exitCodes, usageError, type Runtime } from '../runtime.ts'
import { withSourceFaults } from '../project/source-faults.ts'
import { withPushOptions, type PushOptions } from '../project/push-options.ts'
import { adviceOnSchemas } from '../project/unenforced-schemas.ts'

interface PlanOptions extends PushOptions {
  out?: string
  markdown?: boolean
  check?: boolean
}

/** `pas plan`. */
export function register(program: Command, runtime: Runtime): void {
  const command = program
    .command('plan')
    .argument('[path]', 'only what is at or below this path')
    .description(
      `Show what push would do, and write nothing.

Ends with 3 where files and server clash; with --check also with 8 where they differ.`,
    )
    .option('--out <file>', 'write the plan to a file, for "pas push FILE"')
    .option('--markdown', 'print it as Markdown')
    .option('--check', 'end with 8 where there is anything to do')
    .action(plan)
  withPushOptions(command)
  examples(command, 'pas plan', 'pas plan processes/greeting', 'pas plan --context prod --out plan.json --markdown')

  async function plan(path: string | undefined, options: PlanOptions): Promise<void> {
    const project = await openProject(runtime)
    const wanted = await makePlan(project, {
      ...options,
      ...(path !== undefined && { isWanted: itemsBelow(project, runtime.cwd, path) }),
    })
    const { client, local } = project
    const items = await withCronFaults(client, local, await withSourceFaults(client, local, wanted.items))
    const made = { ...wanted, items }
    if (options.out !== undefined) await writePlan(resolve(runtime.cwd, options.out), made)
    const text = options.markdown ? planMarkdown(made) : planText(made)
    if (runtime.out.json && !options.markdown) runtime.out.data(made)
    else runtime.out.data(text)
    const unset = unsetSecrets(project, made, runtime.env)
    if (unset.length > 0)
      runtime.out.say(`To push it, set these variables, which its secrets come from: ${unset.join(', ')}.`)
    const advice = await adviceOnSchemas(client, local, made)
    if (advice !== undefined) runtime.out.say(advice)
    throwWhereNotDone(made, options.check ?? false)
  }
}

async function writePlan(path: string, plan: Plan): Promise<void> {
  await writeFile(path, `${JSON.stringify(plan, null, 2)}\n`).catch((error: Error) => {
    throw usageError(`The plan cannot be written: ${error.message}`)
  })
}

function throwWhereNotDone({ items }: Plan, isCheck: boolean): void {
  if (items.some(({ action }) => action === 'clash'))
    throw new ExitError(exitCodes.conflict, 'Files and server clash. "pas pull" merges.')
  if (isCheck && items.some((item) => isToDo(item) || item.action === 'theirs' || item.action === 'gone'))
    throw new ExitError(exitCodes.changesPending, 'Files and server differ.')
}
