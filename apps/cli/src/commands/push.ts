import type { Command } from 'commander'
import { resolve } from 'node:path'
import { examples } from '../output/examples.ts'
import { withCronFaults } from '../project/cron-faults.ts'
import { readText } from '../project/checkout.ts'
import { itemsBelow, makePlan, openProject, type OpenProject } from '../project/open-project.ts'
import { isToDo, type Plan } from '../project/plan.ts'
import { planText } from '../project/plan-text.ts'
import { pushPlan, refuseClashes } from '../project/push-plan.ts'
import { withPushOptions, type PushOptions } from '../project/push-options.ts'
import { adviceOnSchemas } from '../project/unenforced-schemas.ts'
import { requireYes, usageError, type Runtime } from '../runtime.ts'

/** `pas push`. */
export function register(program: Command, runtime: Runtime): void {
  const command = program
    .command('push')
    .argument('[plan|path]', 'a plan that "pas plan --out" has written, or the path of what is to be pushed')
    .description(
      `Write the files to the server: exactly what the plan says.

What others have changed meanwhile is never overwritten: it ends with 3 then. It stops at a failure; push again to go on.`,
    )
    .action(push)
  withPushOptions(command)
  examples(
    command,
    'pas push',
    'pas push processes/greeting --yes',
    'pas push plan.json --yes',
    'pas push --overwrite greeting',
  )

  async function push(subject: string | undefined, options: PushOptions): Promise<void> {
    const written = await writtenPlan(subject, options)
    const project = await openProject(runtime, { readsServer: written === undefined })
    const { client, local } = project
    const plan = written ?? (await warnedPlan(project, { ...options, ...wantedBelow(project, subject) }))
    const toDo = plan.items.filter(isToDo)
    if (runtime.out.json) runtime.out.line({ type: 'status', plan })
    else runtime.out.say(planText(plan))
    refuseClashes(plan)
    if (toDo.length === 0) return runtime.out.line({ type: 'end', done: 0 })
    const advice = await adviceOnSchemas(client, local, plan)
    if (advice !== undefined) runtime.out.say(advice)
    await requireYes(
      runtime,
      `Write ${toDo.length === 1 ? 'it' : `these ${toDo.length}`} to ${plan.team} at ${plan.url}?`,
      'Nothing was written.',
    )
    const found = await pushPlan(
      runtime,
      project,
      plan,
      written && 'Plan again: this plan is of another state of the server.',
    )
    const aside = found === 0 ? '' : `, of which the server had ${found} already`
    runtime.out.line({ type: 'end', done: toDo.length, found }, `${toDo.length} done${aside}`)
  }

  /** The plan in a file; undefined where the subject is none. */
  async function writtenPlan(subject: string | undefined, options: PushOptions): Promise<Plan | undefined> {
    if (!subject?.endsWith('.json')) return undefined
    const text = await readText(resolve(runtime.cwd, subject))
    if (text === undefined)
      throw usageError(`There is no file ${subject}. Write a plan first: pas plan --out ${subject}`)
    const plan = readPlan(subject, text)
    if (plan && (options.prune || options.overwrite || options.secrets))
      throw usageError('--prune, --overwrite and --secrets are for "pas plan": a plan is done as it is.')
    return plan
  }

  /** Warns of crons alone: the server's answers warn of sources. */
  async function warnedPlan(project: OpenProject, choice: Parameters<typeof makePlan>[1]): Promise<Plan> {
    const plan = await makePlan(project, choice)
    return { ...plan, items: await withCronFaults(project.client, project.local, plan.items) }
  }

  function wantedBelow(project: OpenProject, path: string | undefined) {
    return path === undefined ? {} : { isWanted: itemsBelow(project, runtime.cwd, path) }
  }
}

/** A plan that was written; undefined for other JSON, such as a schema. */
function readPlan(path: string, text: string): Plan | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw usageError(`${path} is no JSON: ${(error as Error).message}`)
  }
  const plan = value as Plan
  return plan.plan === 1 && Array.isArray(plan.items) ? plan : undefined
}
