import { Resealing, type SealedTable, type SecretBox } from '@automation/database'
import type { PartContext } from '@automation/service'
import { apiKeyContext, daemonKeyContext } from '../sandbox-message.ts'
import { active } from './rows.ts'
import type { Store } from './store.ts'

const tables: SealedTable[] = [
  {
    kind: 'sandboxes',
    table: 'sandboxes',
    id: 'id',
    idType: 'uuid',
    secrets: [
      { column: 'api_key', context: apiKeyContext },
      { column: 'daemon_key', context: daemonKeyContext },
    ],
    // Of one that ended long ago the key may have gone.
    needed: active,
  },
]

/** All that the sandbox service keeps sealed. */
export function sandboxResealing(
  store: Store,
  box: SecretBox,
  { logger, metrics }: Pick<PartContext, 'logger' | 'metrics'>,
): Resealing {
  return new Resealing({
    service: 'sandbox',
    query: (statement) => store.query(statement),
    box,
    tables,
    logger,
    metrics,
  })
}
