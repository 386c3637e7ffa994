import { isUuid } from '@automation/contract/forms'
import { Origin, Status, type ListExecutionsRequest } from '@automation/contract/execution/v1/execution'
import { invalid } from '@automation/errors'
import { timestampMs, type Timestamp } from '@bufbuild/protobuf/wkt'
import { lowestIdAt } from '../execution-id.ts'
import { statusesFound, type WaitingStatus } from '../status.ts'
import type { Queries } from '../store/connections.ts'
import type { RecordFilter } from '../store/record-list.ts'
import { visibleId } from '../store/records.ts'

/** What a list asks for; undefined where no execution fits. Failures: invalid_argument at `/after`; execution_not_found. */
export async function listFilter(
  queries: Queries,
  team: string,
  request: ListExecutionsRequest,
  waitingStatus: WaitingStatus,
): Promise<RecordFilter | undefined> {
  const { keywords, comment, from, to, origins, trial } = request
  const ids = ['processId', 'scheduleId', 'versionId'] as const
  if (ids.some((name) => request[name] !== '' && !isUuid(request[name].toLowerCase()))) return undefined
  const known = [...new Set(origins)].filter((one) => Origin[one] !== undefined)
  if (origins.length > 0 && known.length === 0) return undefined
  const [processId, scheduleId, versionId] = ids.map((name) => request[name].toLowerCase() || undefined)
  const afterId = request.after.toLowerCase() || undefined
  if (afterId !== undefined && !isUuid(afterId)) throw invalid('/after', 'must be the id of an execution')
  return {
    team,
    keywords: keywords || undefined,
    comment: comment || undefined,
    words: request.words.trim() || undefined,
    processId,
    scheduleId,
    versionId,
    parentId: request.parentId === '' ? undefined : await visibleId(queries, team, request.parentId),
    statuses: statusesOf(request, waitingStatus),
    origins: known.length === 0 ? undefined : known,
    trial,
    fromId: from && lowestIdAt(exactMs(from)),
    untilId: to && lowestIdAt(Math.floor(exactMs(to)) + 1),
    afterId,
  }
}

function statusesOf({ status, statuses }: ListExecutionsRequest, waitingStatus: WaitingStatus): Status[] | undefined {
  const asked = [...new Set([status, ...statuses])].filter((one) => one !== Status.UNSPECIFIED)
  if (asked.length === 0) return undefined
  return [...new Set(asked.flatMap((one) => statusesFound(one, waitingStatus)))]
}

/** With the fraction of a millisecond, so that bounds are exact. */
function exactMs(time: Timestamp): number {
  return timestampMs(time) + (time.nanos % 1_000_000) / 1e6
}
