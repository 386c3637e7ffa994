import { createHash } from 'node:crypto'
import type { RunSpecSchema } from '@automation/contract/catalog/v1/resolve'
import { Batcher } from '@automation/service'
import { notFound } from '@automation/errors'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { draftsProcessId } from '@automation/contract/drafts'
import { isUuid } from '@automation/contract/forms'
import { absentProcess, absentVersionOrAlias } from '../processes/absent.ts'
import { installable } from '../dependencies/manifest.ts'
import { languageOf, type LanguageName } from '../fields/language.ts'
import { limits } from '../fields/limits.ts'
import { isSlug, isTag } from '../fields/names.ts'
import { runSpecStatement } from './run-spec-statement.ts'
import type { Store } from './store.ts'
import type { RunVariables, SealedRows, TeamVariables } from './team-variables.ts'
import { unmetImports, type UnmetRows } from './unmet-imports.ts'

type RunSpecMessage = MessageInitShape<typeof RunSpecSchema>

interface RunRow extends ModuleRows, UnmetRows, SealedRows {
  zoneId: string
  processId: string | null
  processName: string
  processSlug: string
  versionId: string | null
  language: LanguageName
  sourceCode: string
  parametersSchema: string | null
  enforcesSchema: boolean
  webhookEnabled: boolean
  webhookUsername: string | null
  webhookPasswordHash: string | null
  webhookAllowedAddresses: string[]
  setKey: string | null
  installedDependencies: string | null
  setDigest: string | null
  awaitedDependencies: string | null
  dependenciesError: string | null
}

/** The revisions of teams, read for all that ask at once; undefined where there is no such team. */
export function revisionsOf(store: Store): Batcher<string, bigint | undefined> {
  return new Batcher(1000, (teams: string[]) => readRevisions(store, teams))
}

/**
 * The revision of each of these teams, in their order, as they are committed when the statement starts; undefined for those
 * that are not there.
 */
async function readRevisions(store: Store, teams: string[]): Promise<(bigint | undefined)[]> {
  const found = await store.forRuns<{ team: string; revision: string }>({
    name: 'revisions',
    text: 'SELECT team, revision FROM revisions WHERE team = ANY($1)',
    values: [[...new Set(teams)]],
  })
  const revisions = new Map(found.map(({ team, revision }) => [team, BigInt(revision)]))
  return teams.map((team) => revisions.get(team))
}

/**
 * Everything that a run sees, with the revision that it was read at, in one statement: so all of it is from one snapshot.
 * `tag` is a version id, a tag or an alias; empty for the current source.
 * Of `deleted` versions only such are found, by their ids, and drafts. With `asOf` sources that are nobody's version are as they
 * were at that moment, as far as they are kept; the process is named by its id. Fails with team_not_found,
 * process_not_found, version_not_found.
 */
export async function readRunSpec(
  store: Store,
  variables: TeamVariables,
  { team, identifier, tag }: { team: string; identifier: string; tag: string },
  { named = 'living', asOf }: { named?: 'living' | 'deleted'; asOf?: Date | undefined } = {},
): Promise<RunSpecMessage> {
  const isStored = identifier !== draftsProcessId
  if (!isStored && named === 'living') throw tag === '' ? absentProcess(identifier) : absentVersionOrAlias(tag)
  const byId = isUuid(identifier)
  const version = tag === '' ? 'none' : isUuid(tag) ? (named === 'deleted' ? 'deleted' : 'id') : 'name'
  // What can't be a slug or a name is asked for as the empty text, which nothing has.
  const process = byId || isSlug(identifier) ? identifier : ''
  const name = version !== 'name' || isTag(tag) ? tag : ''
  const known = variables.of(team)
  const [row] = await store.forRuns<RunRow>({
    ...runSpecStatement(isStored ? (byId ? 'id' : 'slug') : 'draft', version, asOf !== undefined),
    values: [
      team,
      process,
      known?.revision ?? null,
      ...(version === 'none' ? [] : [name]),
      ...(asOf === undefined ? [] : [asOf]),
    ],
  })
  if (row === undefined) throw notFound('team')
  if (row.processId === null) throw absentProcess(identifier)
  if (version !== 'none' && row.versionId === null) throw absentVersionOrAlias(tag)
  return runSpec(row, row.processId, team, await variables.open(team, row, known))
}

function runSpec(row: RunRow, processId: string, team: string, variables: RunVariables): RunSpecMessage {
  const { versionId, language, sourceCode } = row
  const modules = runModules(row, team)
  const schema = row.parametersSchema ?? undefined
  const unmet = unmetImports(row)
  return {
    revision: BigInt(row.revision),
    digest: sourceDigest({ processId, versionId, language, sourceCode, modules: textOf(modules, unmet) }),
    team,
    timeZone: row.zoneId,
    processId,
    processName: row.processName,
    processSlug: row.processSlug,
    versionId: versionId ?? undefined,
    language: languageOf(language),
    sourceCode,
    ...(row.enforcesSchema ? { enforcedSchema: schema } : { unenforcedSchema: schema }),
    webhook: {
      enabled: row.webhookEnabled,
      username: row.webhookUsername ?? undefined,
      passwordHash: row.webhookPasswordHash ?? undefined,
      allowedAddresses: row.webhookAllowedAddresses,
    },
    ...variables,
    ...modules,
    unmetImports: unmet,
    ...dependencies(row),
  }
}

function dependencies(row: RunRow) {
  const { language, setKey, setDigest, installedDependencies, awaitedDependencies, dependenciesError } = row
  const awaited = awaitedDependencies === null ? [] : (JSON.parse(awaitedDependencies) as string[])
  return {
    ...(setKey !== null && {
      dependencies: { key: setKey, packages: installable(language, installedDependencies), digest: setDigest ?? '' },
    }),
    awaitedDependencies: awaited.join(', '),
    dependenciesError: dependenciesError ?? undefined,
  }
}

/** What a child sees of them: not the ids of versions. */
function textOf(modules: ReturnType<typeof runModules>, unmet: ReturnType<typeof unmetImports>): string {
  const seen = (name: string, value: unknown) => (name === 'versionId' ? undefined : value)
  const text = modules.modules?.length === 0 ? '' : JSON.stringify(modules, seen)
  return unmet.length === 0 ? text : text + JSON.stringify(unmet)
}

/** What a warm child keeps between runs. */
interface DigestedSource {
  processId: string
  versionId: string | null
  language: string
  sourceCode: string
  /** What its modules are, as text. */
  modules: string
}

/** SHA-256 in hex; equal for equal sources and modules only, as the first four fields can't contain the separator. */
function sourceDigest({ processId, versionId, language, sourceCode, modules }: DigestedSource): string {
  return createHash('sha256')
    .update(`${processId}\n${versionId ?? 'current'}\n${language}\n${sourceCode.length}\n${sourceCode}${modules}`)
    .digest('hex')
}

/** What the statement says of modules. */
interface ModuleRows {
  /** Absent importer: the process. */
  links: { importer: string | null; reference: string; id: string }[] | null
  modulesCount: number
  /** None where they are too many or too large. */
  modules:
    | { id: string; name: string; version: string | null; tag: string | null; team: string; source: string }[]
    | null
}

/** The modules of a run as its specification has them. */
function runModules(
  { links, modulesCount, modules }: ModuleRows,
  team: string,
): Pick<RunSpecMessage, 'imports' | 'modules' | 'modulesFault'> {
  if (modulesCount > 0 && modules === null) return { modulesFault: tooMuch(modulesCount) }
  const rows = modules ?? []
  const indexes = new Map(rows.map(({ id }, index) => [id, index]))
  const byImporter = Map.groupBy(links ?? [], ({ importer }) => importer)
  const importsOf = (importer: string | null) =>
    (byImporter.get(importer) ?? []).map(({ reference, id }) => {
      const [name = '', tag = ''] = reference.split(' ')
      return { name, tag, module: indexes.get(id)! }
    })
  return {
    imports: importsOf(null),
    modules: rows.map(({ id, name, version, tag, team: owner, source }) => ({
      name,
      versionId: version ?? undefined,
      tag: tag ?? undefined,
      team: owner === team ? undefined : owner,
      sourceCode: source,
      imports: importsOf(id),
    })),
  }
}

function tooMuch(count: number): string {
  return count > limits.runModuleCount
    ? `The process needs ${count} modules, and a run may have ${limits.runModuleCount}`
    : `The sources of the modules that the process needs are larger than ${limits.runModulesBytes} bytes together`
}
