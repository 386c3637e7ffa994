import { ReferenceService } from '@automation/contract/catalog/v1/resolve'
import { unavailable } from '@automation/errors'
import { principalIn, served, type ServedService } from '@automation/rpc'

/** The catalog as the scheduler asks it: what tags of processes name. */
export class ScriptedReferences {
  /** By their tags. */
  readonly versions = new Map<string, string>()
  isAway = false
  /** How often it was asked. */
  asked = 0

  get service(): ServedService<typeof ReferenceService> {
    return served(ReferenceService, {
      lookUpReferences: async ({ references }, context) => {
        principalIn(context, 'service')
        this.asked += 1
        if (this.isAway) throw unavailable('The catalog is away')
        return {
          references: references.map(({ processId, tag }) => ({
            processSlug: `slug-${processId}`,
            versionId: this.versions.get(tag),
          })),
        }
      },
    })
  }
}
