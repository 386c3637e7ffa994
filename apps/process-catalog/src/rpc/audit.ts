import { AuditType, type AuditService } from '@automation/contract/audit/v1/audit'
import { lowestIdAt, windowOf } from '@automation/database'
import { memberIn, principalIn, type Handlers } from '@automation/rpc'
import { timestampMs, type Timestamp } from '@bufbuild/protobuf/wkt'
import type { Catalog } from '../catalog.ts'
import { listAuditRecords } from '../store/audit-records.ts'

/** The audit trail: what other services add, and what its team reads. */
export function auditHandlers({ store, auditTrail }: Catalog): Handlers<typeof AuditService> {
  return {
    async appendAuditRecords({ records }, context) {
      principalIn(context, 'service')
      await auditTrail.append(records)
      return {}
    },

    listAuditRecords({ page, type, entityId, from, to }, context) {
      const filter = {
        team: memberIn(context).team,
        type: type === AuditType.UNSPECIFIED ? undefined : type,
        entityId: entityId || undefined,
        fromId: from && lowestIdAt(exactMs(from)),
        untilId: to && lowestIdAt(Math.floor(exactMs(to)) + 1),
      }
      return listAuditRecords(store, filter, windowOf(page))
    },
  }
}

/** With the fraction of a millisecond, so that bounds are exact. */
function exactMs(time: Timestamp): number {
  return timestampMs(time) + (time.nanos % 1_000_000) / 1e6
}
