import { ApiError } from '@automation/client'
import { ExitError, exitCodes, usageError, type Runtime } from '../runtime.ts'
import { severalLines } from '../output/plain-text.ts'
import { readFailure } from '../failure.ts'
import { applyPlan, type Applied } from './apply-plan.ts'
import { digestOf } from './canonical-json.ts'
import { isToDo, type Plan, type PlanItem } from './plan.ts'
import { itemText } from './plan-text.ts'
import { pathsOfItem } from './project-items.ts'
import type { OpenProject } from './open-project.ts'
import { deleteItem, missingSecrets, writeItem, type Outcome, type WriteOptions } from './write-item.ts'

/**
 * Does a plan with the files that it was made of, tells each item, and counts those that an earlier push had done. Throws an
 * ExitError where it has a clash (nothing is written then), a secret is missing, files are others than then, or an item failed;
 * `afterConflict` says what to do where that was changed on the server meanwhile.
 */
export async function pushPlan(
  runtime: Runtime,
  project: OpenProject,
  plan: Plan,
  afterConflict?: string,
): Promise<number> {
  refuseClashes(plan)
  checkFiles(project, plan)
  const { env, out } = runtime
  checkSecrets(project, plan, env)
  const dirty = (await project.repository?.dirty()) ?? new Set<string>()
  const { past, client, local, repository } = project
  let found = 0
  const applied = await applyPlan(plan.items, async (line) => {
    let outcome: Outcome
    if (line.action === 'delete') {
      outcome = await deleteItem(client, line as Parameters<typeof deleteItem>[1])
      await past.seen.remove(line.key)
    } else {
      const item = local.get(line.key)!
      const options: WriteOptions = { env, ...originOf(line.key, repository, dirty) }
      outcome = await writeItem(client, item, line, options)
      await past.seen.write(item)
    }
    const { isFound, warnings = [] } = outcome
    if (isFound) found += 1
    const messages = warnings.map(({ message }) => message)
    const more = { ...(isFound && { found: true }), ...(messages.length > 0 && { warnings: messages }) }
    out.line(
      { type: 'change', action: line.action, key: line.key, ...more },
      `${isFound ? 'found' : 'done '} ${itemText(line)}`,
    )
    for (const each of messages)
      out.say(`${out.style('yellow', 'warning', 'stderr')}  ${severalLines(`${line.key}: ${each}`)}`)
  })
  const next = applied.failed.some(isRefusal) ? 'Mend the file, then push again.' : 'Push again to go on.'
  await throwFailures(runtime, applied, next, afterConflict)
  return found
}

/** Whether the server takes it no better the next time. */
function isRefusal({ error }: Applied['failed'][number]): boolean {
  const isBad = error instanceof ApiError && (error.status === 400 || error.status === 422)
  return isBad && error.code !== 'limit_reached'
}

/** Throws where a plan has a clash. */
export function refuseClashes({ items }: Plan): void {
  const clashes = items.filter(({ action }) => action === 'clash')
  if (clashes.length === 0) return
  throw new ExitError(
    exitCodes.conflict,
    `${clashes.length === 1 ? 'One item clashes' : `${clashes.length} items clash`}, so nothing was written. "pas pull" merges; --overwrite SLUG puts the files in place of what the server has.`,
    { errors: clashes.map(({ key, note = '' }) => ({ path: key, message: note })) },
  )
}

function checkFiles({ local, target }: OpenProject, plan: Plan): void {
  if (plan.url !== target.url || plan.team !== target.team)
    throw usageError(`The plan is for ${plan.team} at ${plan.url}, not for ${target.team} at ${target.url}.`)
  const others = plan.items.filter((line) => {
    const item = local.get(line.key)
    return isToDo(line) && line.action !== 'delete' && (item === undefined || digestOf(item.state) !== line.digest)
  })
  const back = plan.items.filter(({ action, key }) => action === 'delete' && local.has(key))
  const changed = [...others, ...back].map(({ key }) => key)
  if (changed.length > 0)
    throw new ExitError(
      exitCodes.conflict,
      `The files are others than those of the plan: ${changed.join(', ')}. Plan again.`,
    )
}

function checkSecrets(project: OpenProject, plan: Plan, env: WriteOptions['env']): void {
  const missing = unsetSecrets(project, plan, env)
  if (missing.length > 0)
    throw usageError(`Secrets come from the environment, and these variables are not set: ${missing.join(', ')}.`)
}

/** Names of environment variables that a push of the plan wants and that are not set. */
export function unsetSecrets({ local }: OpenProject, { items }: Plan, env: WriteOptions['env']): string[] {
  const missing = items.filter(isToDo).flatMap((line) => {
    const item = local.get(line.key)
    return item && line.action !== 'delete' ? missingSecrets(item, line, env) : []
  })
  return [...new Set(missing)]
}

/** Files that git does not have as they are come from no commit. */
function originOf(key: string, repository: OpenProject['repository'], dirty: ReadonlySet<string>) {
  if (repository === undefined) return {}
  const isDirty = pathsOfItem(key).some((path) =>
    path.endsWith('/') ? [...dirty].some((each) => each.startsWith(path)) : dirty.has(path),
  )
  return { repository: repository.name, ...(repository.head && !isDirty && { commit: repository.head }) }
}

/** Tells what has failed and throws the end of the command; where all is done it does nothing. */
export async function throwFailures(
  { out, env }: Runtime,
  { done, failed, left }: Applied,
  next: string,
  afterConflict = next,
): Promise<void> {
  if (failed.length === 0) return
  const told = await Promise.all(
    failed.map(async ({ item, error }: { item: PlanItem; error: unknown }) => ({
      item,
      ...(await readFailure(error, env)),
    })),
  )
  for (const { item, message } of told)
    out.say(`${out.style('red', 'failed', 'stderr')}  ${severalLines(`${item.key}: ${message}`)}`)
  const codes = new Set(told.map(({ exitCode }) => exitCode))
  const one = codes.size === 1 ? [...codes][0]! : exitCodes.refused
  const rest = left.length > 0 ? `, ${left.length} not begun` : ''
  const hasConflict = codes.has(exitCodes.conflict)
  throw new ExitError(
    hasConflict ? exitCodes.conflict : one,
    `${done.length} done, ${failed.length} failed${rest}. ${hasConflict ? afterConflict : next}`,
    { errors: told.map(({ item, message }) => ({ path: item.key, message })) },
  )
}
