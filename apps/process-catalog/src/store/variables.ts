import type { VariableSchema } from '@automation/contract/catalog/v1/variable'
import {
  columnLimit,
  countedUpTo,
  pageInfo,
  sealedExtraBytes,
  type Sealed,
  type SecretBox,
  type Window,
} from '@automation/database'
import { entityTag, requireUnchanged } from '@automation/database'
import { AuditType } from '@automation/contract/audit/v1/audit'
import { invalid, notFound } from '@automation/errors'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import { v7 } from 'uuid'
import { isUuid } from '@automation/contract/forms'
import type { Variable } from '../../prisma/generated/client.ts'
import { masked, variableContext } from '../fields/variable-rules.ts'
import { audit } from './audit.ts'
import type { Author } from './processes.ts'
import { changeTeam } from './revisions.ts'
import { ownFirst, scope } from './run-spec-statement.ts'
import { requireQuota } from './quota.ts'
import type { Rows, Store } from './store.ts'
import { requireTeam } from './teams.ts'

type VariableMessage = MessageInitShape<typeof VariableSchema>

interface NewVariable {
  key: string
  value: string
  isSensitive: boolean
}

/** Fails with invalid `/key` (taken). */
export function createVariable(store: Store, box: SecretBox, author: Author, variable: NewVariable) {
  return changeTeam(store, author.team, async (rows) => {
    await requireFreeKey(rows, author.team, variable.key)
    await requireQuota((take) => rows.variable.count({ where: { team: author.team }, take }), 'variables', store.limits)
    const id = v7()
    const row = await rows.variable.create({
      data: {
        id,
        team: author.team,
        key: variable.key,
        ...box.seal(variable.value, variableContext(id)),
        isSensitive: variable.isSensitive,
        createdBy: author.name,
        createdAt: new Date(),
      },
    })
    await audit(rows, author, { type: AuditType.VARIABLE, event: 'created', entityId: id })
    return variableMessage(row, box)
  })
}

/** Failure: variable_not_found. */
export function getVariable(store: Store, box: SecretBox, team: string, id: string): Promise<VariableMessage> {
  return store.readFor(team, async (rows) => variableMessage(await findVariable(rows, team, id), box))
}

/** A page of the team's variables, newest first, without values that are too large. */
export function listVariables(store: Store, box: SecretBox, team: string, window: Window) {
  return store.readFor(team, async (rows) => {
    const where = { team }
    const found = await rows.variable.findMany({
      where,
      orderBy: { id: 'desc' },
      ...window,
      omit: { ciphertext: true },
    })
    const total = await rows.variable.count({ where, take: countedUpTo })
    if (total === 0) await requireTeam(rows, team)
    const values = await listedValues(rows, found)
    const variables = found.map((row) => ({
      ...variableMessage({ ...row, ...values.get(row.id) }, box),
      valueLeftOut: !row.isSensitive && !values.has(row.id),
    }))
    return { variables, page: pageInfo(window, total, found.length) }
  })
}

/**
 * What is absent stays, and so does a sensitive value that comes back as it was read. Fails with changed_meanwhile, invalid
 * `/key` (taken) or `/isSensitive` (another than at creation).
 */
export function updateVariable(
  store: Store,
  box: SecretBox,
  author: Author,
  id: string,
  { key, value, isSensitive, ifMatch }: Partial<NewVariable> & { ifMatch: string[] },
): Promise<VariableMessage> {
  return changeTeam(store, author.team, async (rows) => {
    const current = await findVariable(rows, author.team, id)
    requireUnchanged(ifMatch, current)
    if (isSensitive !== undefined && isSensitive !== current.isSensitive)
      throw invalid('/isSensitive', fixed(current.isSensitive))
    if (key !== undefined && key !== current.key) await requireFreeKey(rows, author.team, key)
    const stays = value === undefined || (current.isSensitive && value === masked)
    const row = await rows.variable.update({
      where: { id: current.id },
      data: {
        key: key ?? current.key,
        ...(stays ? {} : box.seal(value, variableContext(current.id))),
        updatedBy: author.name,
        updatedAt: new Date(),
      },
    })
    await audit(rows, author, { type: AuditType.VARIABLE, event: 'updated', entityId: current.id })
    return variableMessage(row, box)
  })
}

/** Failures: variable_not_found, changed_meanwhile. */
export function deleteVariable(store: Store, author: Author, id: string, ifMatch: string[]): Promise<void> {
  return changeTeam(store, author.team, async (rows) => {
    const found = await findVariable(rows, author.team, id)
    requireUnchanged(ifMatch, found)
    await rows.variable.delete({ where: { id: found.id } })
    await audit(rows, author, { type: AuditType.VARIABLE, event: 'deleted', entityId: found.id })
  })
}

/** The value that runs of the team have of a variable, its own or a parent's; undefined where they have none. */
export async function readSeenValue(
  store: Store,
  box: SecretBox,
  team: string,
  key: string,
): Promise<string | undefined> {
  const [row] = await store.statementFor<Pick<Variable, 'id' | 'keyId'> & { ciphertext: Buffer }>(team, {
    name: 'seen_variable',
    text: seenValueStatement,
    values: [team, key],
  })
  return row && box.open(row, variableContext(row.id))
}

const seenValueStatement = `
  WITH ${scope}
  SELECT id::text, ciphertext, key_id AS "keyId" FROM variables
  WHERE key = $2 AND team IN (SELECT team FROM scope)
  ORDER BY ${ownFirst} LIMIT 1`

/** The sealed values of those that are not sensitive, by id, within what a page may take in bytes. */
async function listedValues(rows: Rows, of: { id: string; isSensitive: boolean }[]) {
  const ids = of.filter(({ isSensitive }) => !isSensitive).map(({ id }) => id)
  if (ids.length === 0) return new Map<string, Sealed>()
  const found = await rows.$queryRawUnsafe<({ id: string } & Sealed)[]>(listedValuesStatement, ids)
  return new Map(found.map(({ id, ciphertext, keyId }) => [id, { ciphertext, keyId }]))
}

const valueSize = `octet_length(ciphertext) - ${sealedExtraBytes}`
const listedValuesStatement = `
  WITH page AS (SELECT * FROM variables WHERE id = ANY ($1::uuid[])),
    column_limit AS (${columnLimit('page', [valueSize])})
  SELECT id::text, ciphertext, key_id AS "keyId" FROM page CROSS JOIN column_limit WHERE ${valueSize} <= column_limit.bytes`

/** The team's variable of this id; fails with variable_not_found. */
export async function findVariable(rows: Rows, team: string, id: string): Promise<Variable> {
  const row = isUuid(id) ? await rows.variable.findFirst({ where: { id, team } }) : null
  if (row === null) throw notFound('variable')
  return row
}

function fixed(isSensitive: boolean): string {
  const [is, remedy] = isSensitive ? ['sensitive', true] : ['not sensitive', false]
  return `can't be changed: the variable is ${is} since it was created. Leave isSensitive out or send ${remedy}, or create a variable anew`
}

async function requireFreeKey(rows: Rows, team: string, key: string): Promise<void> {
  if ((await rows.variable.count({ where: { team, key } })) > 0)
    throw invalid('/key', 'is taken by another variable', 'key_taken')
}

function variableMessage(row: Omit<Variable, 'ciphertext'> & Partial<Variable>, box: SecretBox): VariableMessage {
  const { ciphertext, keyId } = row
  const open = () => (ciphertext === undefined ? '' : box.open({ ciphertext, keyId }, variableContext(row.id)))
  return {
    id: row.id,
    key: row.key,
    value: row.isSensitive ? masked : open(),
    isSensitive: row.isSensitive,
    createdBy: row.createdBy,
    createdAt: timestampFromDate(row.createdAt),
    updatedBy: row.updatedBy ?? undefined,
    updatedAt: row.updatedAt === null ? undefined : timestampFromDate(row.updatedAt),
    etag: entityTag(row),
  }
}
