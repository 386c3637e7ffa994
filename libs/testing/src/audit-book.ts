import { AuditService, type AuditRecord } from '@automation/contract/audit/v1/audit'
import { principalIn, served, type ServedService } from '@automation/rpc'

/** The catalog's audit records in memory, for tests of the services that write some. */
export class AuditBook {
  /** By id, in the order of their coming. */
  readonly #records = new Map<string, AuditRecord>()
  /** Answered when set, in place of an answer. */
  failure: Error | undefined

  /** What was done to an entity, the oldest first, each as `event by user`. */
  of(entityId: string): string[] {
    return this.records(entityId).map(({ event, user }) => `${event} by ${user}`)
  }

  records(entityId: string): AuditRecord[] {
    const found = [...this.#records.values()].filter((record) => record.entityId === entityId)
    return found.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  }

  get size(): number {
    return this.#records.size
  }

  get service(): ServedService<typeof AuditService> {
    return served(AuditService, {
      appendAuditRecords: async ({ records }, context) => {
        if (this.failure !== undefined) throw this.failure
        principalIn(context, 'service')
        for (const record of records) if (!this.#records.has(record.id)) this.#records.set(record.id, record)
        return {}
      },
      listAuditRecords: () => {
        throw new Error('Tests ask the book itself')
      },
    })
  }
}
