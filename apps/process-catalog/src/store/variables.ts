import { countedUpTo, pageInfo, type Window } from '@automation/rpc'
import type { VariableSchema } from '@automation/contract/catalog/v1/variable'
import type { SecretBox } from '@automation/database'
import { AuditType } from '@automation/contract/audit/v1/audit'
import { invalid, notFound } from '@automation/errors'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import { v7 } from 'uuid'
import type { Variable } from '../../prisma/generated/client.ts'
import { isUuid } from '../identifier.ts'
import { masked, variablePlace } from '../variable-rules.ts'
import { audit } from './audit.ts'
import type { Author } from './processes.ts'
import { changeTeam } from './revisions.ts'
import type { Rows, Store } from './store.ts'
import { requireTeam } from './teams.ts'

type VariableMessage = MessageInitShape<typeof VariableSchema>

export interface NewVariable {
  key: string
  value: string
  isSensitive: boolean
}

/** Fails with invalid `/key` (taken). */
export function createVariable(store: Store, box: SecretBox, author: Author, variable: NewVariable) {
  return changeTeam(store, author.team, async (rows) => {
    await requireFreeKey(rows, author.team, variable.key)
    const id = v7()
    const row = await rows.variable.create({
      data: {
        id,
        team: author.team,
        key: variable.key,
        ...box.seal(variable.value, variablePlace(id)),
        isSensitive: variable.isSensitive,
        createdBy: author.name,
        createdAt: new Date(),
      },
    })
    await audit(rows, author, { type: AuditType.VARIABLE, event: 'created', entityId: id })
    return variableMessage(row, box)
  })
}

/** A page of the team's variables, newest first. */
export function listVariables(store: Store, box: SecretBox, team: string, window: Window) {
  return store.read(async (rows) => {
    const where = { team }
    const found = await rows.variable.findMany({ where, orderBy: { id: 'desc' }, ...window })
    const total = await rows.variable.count({ where, take: countedUpTo })
    if (total === 0) await requireTeam(rows, team)
    return { variables: found.map((row) => variableMessage(row, box)), page: pageInfo(window, total, found.length) }
  })
}

/**
 * What is absent stays, and so does a sensitive value that comes back as it was read. Fails with invalid `/key` (taken) or `/isSensitive`
 * (another than at creation).
 */
export function updateVariable(store: Store, box: SecretBox, author: Author, id: string, change: Partial<NewVariable>) {
  const { key, value, isSensitive } = change
  return changeTeam(store, author.team, async (rows) => {
    const current = await findVariable(rows, author.team, id)
    if (isSensitive !== undefined && isSensitive !== current.isSensitive)
      throw invalid('/isSensitive', "can't be changed")
    if (key !== undefined && key !== current.key) await requireFreeKey(rows, author.team, key)
    const stays = value === undefined || (current.isSensitive && value === masked)
    const row = await rows.variable.update({
      where: { id: current.id },
      data: {
        key: key ?? current.key,
        ...(stays ? {} : box.seal(value, variablePlace(current.id))),
        updatedBy: author.name,
        updatedAt: new Date(),
      },
    })
    await audit(rows, author, { type: AuditType.VARIABLE, event: 'updated', entityId: current.id })
    return variableMessage(row, box)
  })
}

/** Failure: variable_not_found. */
export function deleteVariable(store: Store, author: Author, id: string): Promise<void> {
  return changeTeam(store, author.team, async (rows) => {
    const { id: found } = await findVariable(rows, author.team, id)
    await rows.variable.delete({ where: { id: found } })
    await audit(rows, author, { type: AuditType.VARIABLE, event: 'deleted', entityId: found })
  })
}

async function findVariable(rows: Rows, team: string, id: string): Promise<Variable> {
  const row = isUuid(id) ? await rows.variable.findFirst({ where: { id, team } }) : null
  if (row === null) throw notFound('variable')
  return row
}

async function requireFreeKey(rows: Rows, team: string, key: string): Promise<void> {
  if ((await rows.variable.count({ where: { team, key } })) > 0)
    throw invalid('/key', 'is taken by another variable', 'key_taken')
}

function variableMessage(row: Variable, box: SecretBox): VariableMessage {
  return {
    id: row.id,
    key: row.key,
    value: row.isSensitive ? masked : box.open(row, variablePlace(row.id)),
    isSensitive: row.isSensitive,
    createdBy: row.createdBy,
    createdAt: timestampFromDate(row.createdAt),
    updatedBy: row.updatedBy ?? undefined,
    updatedAt: row.updatedAt === null ? undefined : timestampFromDate(row.updatedAt),
  }
}
