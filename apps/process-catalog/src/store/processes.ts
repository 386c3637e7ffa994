import { AuditType } from '@automation/contract/audit/v1/audit'
import type { ProcessSchema } from '@automation/contract/catalog/v1/process'
import { countedUpTo, entityTag, literally, pageInfo, requireUnchanged, type Window } from '@automation/database'
import { invalid, notFound } from '@automation/errors'
import type { Member } from '@automation/rpc'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import { v7 } from 'uuid'
import type { Prisma, Process } from '../../prisma/generated/client.ts'
import { randomWord } from '../access/api-token.ts'
import type { DetectionOptions } from '../dependencies/detect.ts'
import { newPublicToken } from '../processes/form-values.ts'
import { languageOf, type LanguageName } from '../fields/language.ts'
import { derivedSlug, requireUnreserved, withSuffix } from '../fields/names.ts'
import type { NewProcess, ProcessChange } from '../processes/process-values.ts'
import type { Reading, ReadSource } from '../reading/reading.ts'
import { processDigest, processStateDigest } from '../processes/source-digest.ts'
import { changedCredentials, noCredentials } from '../processes/webhook-credentials.ts'
import { audit } from './audit.ts'
import { descriptionOf, digestIfAny, missingDigests } from './described.ts'
import { keepFormerSource } from './former-sources.ts'
import { keptBefore } from './kept-before.ts'
import { noteEffect } from './effects.ts'
import { findProcess, findProcessId } from './owners.ts'
import { largeTexts, listedTexts } from './listed-texts.ts'
import { decidesOnDependencies, settleDependencies } from './process-dependencies.ts'
import { changeTeam } from './revisions.ts'
import { requireQuota } from './quota.ts'
import type { Rows, Store } from './store.ts'
import { renameErrorHandler, requireTeam } from './teams.ts'

/** Who writes, for which team. */
export type Author = Member

/** A stored source that has to be read before the process can be changed. */
export interface Unread {
  unread: { language: LanguageName; source: string }
}

const suffixLength = 6

/** Fails with invalid `/slug` where an explicit slug is taken; a derived one gets a suffix then. */
export function createProcess(
  store: Store,
  author: Author,
  { columns, credentials, language, reading }: NewProcess & { language: LanguageName; reading: Reading },
  passwordHash: string | undefined,
  detection: DetectionOptions,
): Promise<ProcessMessage> {
  return changeTeam(store, author.team, async (rows) => {
    await requireQuota((take) => rows.process.count({ where: { team: author.team }, take }), 'processes', store.limits)
    const now = new Date()
    const id = v7()
    const detects = columns.dependenciesAutoDetect
    const saved = { ...columns, id, team: author.team, language, reading: detects ? reading : undefined }
    const settled = await settleDependencies(rows, saved, detection)
    const data = {
      ...columns,
      ...settled,
      ...changedCredentials(noCredentials, credentials, passwordHash),
      id,
      team: author.team,
      slug: await newSlug(rows, author.team, columns),
      language,
      imports: reading.imports,
      createdBy: author.name,
      createdAt: now,
      updatedAt: now,
    }
    const row = await rows.process.create({
      data: { ...data, sourceDigest: processDigest(data), describedRevision: 1 },
    })
    await audit(rows, author, { type: AuditType.PROCESS, event: 'created', entityId: id })
    return processMessage(row)
  })
}

/** By id or slug. Failure: process_not_found. */
export function getProcess(store: Store, team: string, identifier: string): Promise<ProcessMessage> {
  return store.readFor(team, async (rows) => processMessage(await findProcess(rows, team, identifier)))
}

/** As getProcess, without reading the source. */
export function getProcessWithoutSource(store: Store, team: string, identifier: string): Promise<ProcessMessage> {
  return store.readFor(team, async (rows) => {
    const where = { id: await findProcessId(rows, team, identifier) }
    const row = await rows.process.findUnique({ where, omit: { sourceCode: true } })
    if (row === null) throw notFound('process')
    const digests = await missingDigests(rows, 'processes', [row])
    return shownProcess(row, () => digests.get(row.id))
  })
}

/**
 * `read` is the new source, or the one that is thought to be stored. Where packages are to be detected in another one, as
 * nobody has read it or somebody has changed it meanwhile, the process stays as it is and that source is given.
 * Fails with process_not_found, changed_meanwhile, invalid `/slug` (taken) or `/webhook/…` (half of the credentials).
 */
export function updateProcess(
  store: Store,
  author: Author,
  identifier: string,
  { columns, credentials, read, ifMatch }: ProcessChange & { read: ReadSource | undefined; ifMatch: string[] },
  passwordHash: string | undefined,
  detection: DetectionOptions,
): Promise<ProcessMessage | Unread> {
  return changeTeam(store, author.team, async (rows, revision) => {
    const current = await findProcess(rows, author.team, identifier)
    requireUnchanged(ifMatch, current)
    const { slug } = columns
    if (slug !== undefined && slug !== current.slug) await requireFree(rows, author.team, slug)
    const language = current.language as LanguageName
    const saved = { ...current, ...columns, language }
    const reading = read?.source === saved.sourceCode ? read.reading : undefined
    const detects = saved.dependenciesAutoDetect
    const decides = decidesOnDependencies(columns)
    if (decides && detects && reading === undefined) return { unread: { language, source: saved.sourceCode } }
    const settling = { ...saved, reading: detects ? reading : undefined }
    const settled = decides ? await settleDependencies(rows, settling, detection) : {}
    if (saved.sourceCode !== current.sourceCode) await keepFormerSource(rows, 'processes', current.id)
    const publicToken = saved.publicEnabled ? saved.publicToken || newPublicToken() : saved.publicToken
    const data = { ...columns, publicToken, ...settled, ...changedCredentials(current, credentials, passwordHash) }
    const row = await rows.process.update({
      where: { id: current.id },
      data: {
        ...data,
        imports: reading?.imports,
        sourceDigest: processDigest({ ...current, ...data }),
        describedRevision: current.revision + 1,
        previousStates: keptBefore(
          current.previousStates,
          digestIfAny(() => processStateDigest(current)),
        ),
        updatedBy: author.name,
        updatedAt: new Date(),
      },
    })
    await audit(rows, author, { type: AuditType.PROCESS, event: 'updated', entityId: current.id })
    if (row.slug !== current.slug) await renameErrorHandler(rows, author, current.slug, row.slug)
    if (row.name !== current.name)
      await noteEffect(rows, { team: row.team, subject: row.id, value: row.name, revision })
    return processMessage(row)
  })
}

async function newSlug(rows: Rows, team: string, { name, slug }: { name: string; slug?: string }): Promise<string> {
  if (slug !== undefined) {
    await requireFree(rows, team, slug)
    return slug
  }
  const derived = derivedSlug(name, randomWord(suffixLength))
  let free = derived
  while (await isTaken(rows, team, free)) free = withSuffix(derived, randomWord(suffixLength))
  return free
}

/** Fails with invalid `/slug`. */
async function requireFree(rows: Rows, team: string, slug: string): Promise<void> {
  requireUnreserved(slug)
  if (await isTaken(rows, team, slug)) throw invalid('/slug', 'is taken by another process', 'slug_taken')
}

async function isTaken(rows: Rows, team: string, slug: string): Promise<boolean> {
  return (await rows.process.count({ where: { team, slug } })) > 0
}

type ProcessMessage = MessageInitShape<typeof ProcessSchema>

type ListedRow = Omit<Process, 'webhookPasswordHash' | 'sourceCode' | 'previousStates'> &
  Partial<Pick<Process, 'sourceCode' | 'previousStates'>> & { leftOut?: string[] }

/** A process's row as a message. */
function processMessage(row: Process): ProcessMessage {
  return shownProcess(row, () => digestIfAny(() => processDigest(row)))
}

/** The same of what a list reads of it; the password's hash stays behind. */
function shownProcess(row: ListedRow, digest: () => string | undefined): ProcessMessage {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    description: row.description ?? undefined,
    readme: row.readme ?? undefined,
    language: languageOf(row.language),
    sourceCode: row.sourceCode,
    parametersSchema: row.parametersSchema ?? undefined,
    webhook: {
      enabled: row.webhookEnabled,
      username: row.webhookUsername ?? undefined,
      allowedAddresses: row.webhookAllowedAddresses,
    },
    settings: {
      formsEnabled: row.formsEnabled,
      publicEnabled: row.publicEnabled,
      publicToken: row.publicToken ?? undefined,
      formsTag: row.formsTag ?? undefined,
      frameAncestors: row.frameAncestors,
      dependenciesScopedToProcess: row.dependenciesScopedToProcess,
      dependenciesAutoDetect: row.dependenciesAutoDetect,
    },
    dependencies: JSON.parse(row.dependencies) as Record<string, string>,
    tags: row.tags,
    createdBy: row.createdBy,
    createdAt: timestampFromDate(row.createdAt),
    updatedBy: row.updatedBy ?? undefined,
    updatedAt: timestampFromDate(row.updatedAt),
    leftOut: row.leftOut,
    etag: entityTag(row),
    previousStates: row.previousStates,
    ...descriptionOf(row, digest),
  }
}

interface ProcessFilter {
  /** Part of the name or the description; empty for all. */
  keywords: string
  /** Any of these; empty for all. */
  tags: string[]
}

/** A page of the team's processes, newest first, without what is too large. */
export function listProcesses(store: Store, team: string, filter: ProcessFilter, window: Window) {
  const where = { team, ...matching(filter) }
  return store.readFor(team, async (rows) => {
    const found = await rows.process.findMany({
      where,
      orderBy: { id: 'desc' },
      ...window,
      omit: { ...largeTexts.processes, webhookPasswordHash: true, previousStates: true },
    })
    const total = await rows.process.count({ where, take: countedUpTo })
    if (total === 0) await requireTeam(rows, team)
    const textsOf = await listedTexts(rows, 'processes', found)
    const digests = await missingDigests(rows, 'processes', found)
    const processes = found.map((row) => shownProcess({ ...row, ...textsOf(row.id) }, () => digests.get(row.id)))
    return { processes, page: pageInfo(window, total, found.length) }
  })
}

function matching({ keywords, tags }: ProcessFilter): Prisma.ProcessWhereInput {
  if (keywords.includes('\0')) throw invalid('/keywords', 'must not contain NUL characters')
  if (tags.some((tag) => tag.includes('\0'))) throw invalid('/tags', 'must not contain NUL characters')
  const part = { contains: literally(keywords), mode: 'insensitive' } as const
  return {
    ...(keywords === '' ? {} : { OR: [{ name: part }, { description: part }] }),
    ...(tags.length === 0 ? {} : { tags: { hasSome: tags } }),
  }
}
