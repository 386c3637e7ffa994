import { Status, type WebhookDeliverySchema } from '@automation/contract/execution/v1/execution'
import { notFound } from '@automation/errors'
import { isUuid } from '@automation/contract/forms'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate, timestampFromMs } from '@bufbuild/protobuf/wkt'
import { createdAtMs } from '../execution-id.ts'
import { isTerminal } from '../status.ts'
import type { Connections } from '../store/connections.ts'
import { bytesOf } from '../store/stored-text.ts'
import {
  keptRefusals,
  readDelivered,
  readRefusals,
  type DeliveredRow,
  type RefusalRow,
} from '../store/webhook-refusals.ts'

type Delivery = MessageInitShape<typeof WebhookDeliverySchema> & { id: string }

/** The last calls of a process's webhook, newest first. */
export async function listDeliveries(connections: Connections, team: string, processId: string): Promise<Delivery[]> {
  const id = processId.toLowerCase()
  if (!isUuid(id)) throw notFound('process')
  const queries = connections.forTeam(team)
  const [refused, delivered] = await Promise.all([readRefusals(queries, team, id), readDelivered(queries, team, id)])
  // Ids sort by their time.
  return [...refused.map(refusalOf), ...delivered.map(runOf)]
    .toSorted((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, keptRefusals)
}

function refusalOf({ id, method, bytes, kind, code, reason }: RefusalRow): Delivery {
  return { ...shared(id, method, bytes), outcome: { case: 'refusal', value: { kind, code, reason } } }
}

function runOf(row: DeliveredRow): Delivery {
  const { id, status, atOnce, updatedAt, returnValue, explanation, answeredStatus } = row
  const value = {
    status,
    answeredAtOnce: atOnce,
    endedAt: isTerminal(status) ? timestampFromDate(updatedAt) : undefined,
    returnValue: returnValue === null ? undefined : bytesOf(returnValue),
    answeredStatus: answeredStatus ?? undefined,
    explanation: status === Status.REJECTED ? (explanation ?? undefined) : undefined,
  }
  return { ...shared(id, row.method, BigInt(row.bytes)), outcome: { case: 'run', value } }
}

function shared(id: string, method: string, bodyBytes: bigint) {
  return { id, at: timestampFromMs(createdAtMs(id)), method, bodyBytes }
}
