import type { ReferenceService } from '@automation/contract/catalog/v1/resolve'
import { asFailure, type FailureKind } from '@automation/errors'
import { asService, type CallContext, type Client } from '@automation/rpc'
import type { Logger } from '@automation/service'

/** A process, and what of it is named; empty for the current source. */
export interface Reference {
  processId: string
  tag: string
}

/** What it stands for now. */
interface FoundReference {
  /** Empty where there is no such process. */
  processSlug: string
  versionId?: string
}

// A catalog of a release before this one does not know the call.
const away = new Set<FailureKind>(['unavailable', 'deadline_exceeded', 'unimplemented'])

/** What schedules refer to, as the catalog has it now. */
export class References {
  readonly #catalog: Client<typeof ReferenceService>
  readonly #logger: Logger

  constructor(catalog: Client<typeof ReferenceService>, logger: Logger) {
    this.#catalog = catalog
    this.#logger = logger
  }

  /** In their order, by one call; undefined while the catalog is away. */
  async lookUp(
    team: string,
    references: readonly Reference[],
    context: CallContext,
  ): Promise<FoundReference[] | undefined> {
    if (references.length === 0) return []
    const named = references.map(({ processId, tag }) => ({ processId, tag }))
    try {
      const principal = asService('scheduler', team)
      const found = await this.#catalog.lookUpReferences({ references: named }, { ...context, principal })
      return found.references
    } catch (error) {
      if (!away.has(asFailure(error).kind)) throw error
      this.#logger.warn({ err: error, team }, 'what schedules refer to is shown as it was last looked up')
      return undefined
    }
  }
}
