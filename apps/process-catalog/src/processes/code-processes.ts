import { createHash } from 'node:crypto'
import {
  CreateProcessRequestSchema,
  UpdateProcessRequestSchema,
  type ProcessService,
} from '@automation/contract/catalog/v1/process'
import type { TakeProcessRequest } from '@automation/contract/catalog/v1/code'
import { Status } from '@automation/contract/execution/v1/execution'
import { Failure, invalid } from '@automation/errors'
import { asService, memberIn, ownContext, type CallContext, type Handlers } from '@automation/rpc'
import { create } from '@bufbuild/protobuf'
import type { Catalog } from '../catalog.ts'
import { deleteUnusedProcess } from './deletion.ts'
import { manifestText } from '../dependencies/manifest.ts'
import { languageName, languageOf } from '../fields/language.ts'
import { dueUses, endUse, findUse, lookLater, noteUse, type Code, type Use } from '../store/process-uses.ts'

/** What of processes is called as callers do it. */
type Processes = Pick<Handlers<typeof ProcessService>, 'createProcess' | 'updateProcess'>

// Beyond the third, others make and remove it, or change its source, at the same time.
const maxTries = 5
const callTimeoutMs = 10_000

/** Finds or makes the process of a code, and notes that the caller uses it. Failures: those of a new process. */
export async function takeProcess(
  { store }: Catalog,
  processes: Processes,
  request: TakeProcessRequest,
  context: CallContext,
): Promise<Use> {
  const { team } = memberIn(context)
  const code = codeOf(request)
  for (let tries = 0; tries < maxTries; tries += 1) {
    const use = await noteUse(store, team, code, request.removes)
    if (use !== undefined) return use
    if (tries % 2 === 0) await make(processes, request, code, context)
    else await restore(processes, code, context)
  }
  throw invalid('/sourceCode', `has a process ${code.slug} that others change at the same time`, 'slug_taken')
}

/**
 * Ends a use, and removes its process where it does and nobody else uses that; later where its run goes on, or where it fails
 * as execution is away.
 */
export async function releaseProcess(
  catalog: Catalog,
  { useId, runGoesOn }: { useId: string; runGoesOn: boolean },
  context: CallContext,
): Promise<void> {
  const { team } = memberIn(context)
  if (runGoesOn) return lookLater(catalog.store, team, useId)
  const use = await findUse(catalog.store, team, useId)
  // What others have started of its process by its id is theirs.
  if (use !== undefined) await end(catalog, use, endUse, context)
}

/** Ends the uses whose calls have left them, once nothing of their processes runs any more. */
export async function endUses(catalog: Catalog): Promise<void> {
  // Of a team whose execution does not answer one use is waited for, not all.
  const late = new Set<string>()
  for (const use of await dueUses(catalog.store)) {
    const { id, team, processId } = use
    try {
      if (late.has(team)) await lookLater(catalog.store, team, id)
      else await end(catalog, use, lookLater, ownContext(asService('system', team), callTimeoutMs))
    } catch (error) {
      late.add(team)
      catalog.logger.warn({ err: error, team, processId }, 'a use of a process ends later')
    }
  }
}

async function end(catalog: Catalog, use: Use, whileRunning: typeof lookLater, context: CallContext): Promise<void> {
  const { store } = catalog
  const { id, team, removes, processId } = use
  try {
    if (!removes) await endUse(store, team, id)
    else if (await isRunning(catalog, team, processId)) await whileRunning(store, team, id)
    else await deleteUnusedProcess(catalog, use, context)
  } catch (error) {
    // Where that fails, too, its time is over later.
    await lookLater(store, team, id).catch((err: unknown) =>
      catalog.logger.warn({ err, team, processId }, 'a use of a process could not be put off'),
    )
    throw error
  }
}

const unended = [Status.CREATED, Status.QUEUED, Status.DEQUEUED, Status.RUNNING]

async function isRunning({ executions }: Catalog, team: string, processId: string): Promise<boolean> {
  const context = ownContext(asService('process-catalog', team), callTimeoutMs)
  const page = { page: 0, limit: 1 }
  const list = await executions.listExecutions({ page, processId, statuses: unended }, context)
  return list.executions.length > 0
}

/** The process is named by what makes it: language, source and, where there are some, packages. */
function codeOf({ language, sourceCode, dependencies }: TakeProcessRequest): Code {
  const name = languageName(language)
  const packages = Object.keys(dependencies).length === 0 ? '' : `\n${manifestText(dependencies)}`
  const digest = createHash('sha256').update(`${name}\n${sourceCode}${packages}`).digest('hex')
  return { slug: `run-${digest}`, language: name, source: sourceCode }
}

/** A process of that name may be there by now, which the next look finds. */
async function make(
  processes: Processes,
  { dependencies }: TakeProcessRequest,
  { slug, language, source }: Code,
  context: CallContext,
): Promise<void> {
  const values = {
    name: slug,
    slug,
    language: languageOf(language),
    sourceCode: source,
    dependencies,
    dependenciesScopedToProcess: Object.keys(dependencies).length > 0,
    tags: ['run'],
  }
  await unless('slug_taken', processes.createProcess(create(CreateProcessRequestSchema, { values }), context))
}

/** Somebody has given the process another source: it gets its own again. */
async function restore(processes: Processes, { slug, source }: Code, context: CallContext): Promise<void> {
  const request = { identifier: slug, values: { sourceCode: source }, mask: { paths: ['source_code'] } }
  await unless('process_not_found', processes.updateProcess(create(UpdateProcessRequestSchema, request), context))
}

async function unless(code: string, work: unknown): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== code) throw error
  }
}
