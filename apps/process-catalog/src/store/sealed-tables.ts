import { Resealing, type SealedTable, type SecretBox } from '@automation/database'
import type { PartContext } from '@automation/service'
import { sessionContext } from '../access/sessions.ts'
import { signingKeyContext } from '../access/signing-keys.ts'
import { variableContext } from '../fields/variable-rules.ts'
import type { Store } from './store.ts'

const tables: SealedTable[] = [
  {
    kind: 'variables',
    table: 'variables',
    id: 'id',
    idType: 'uuid',
    secrets: [{ column: 'ciphertext', context: variableContext }],
  },
  {
    kind: 'signing keys',
    table: 'signing_keys',
    id: 'kid',
    idType: 'text',
    secrets: [{ column: 'ciphertext', context: signingKeyContext }],
  },
  {
    kind: 'console sessions',
    table: 'console_sessions',
    id: 'id',
    idType: 'uuid',
    secrets: [{ column: 'ciphertext', context: sessionContext }],
    // One that no key opens ends.
    needed: 'false',
  },
]

/** All that the catalog keeps sealed. */
export function catalogResealing(
  store: Store,
  box: SecretBox,
  { logger, metrics }: Pick<PartContext, 'logger' | 'metrics'>,
): Resealing {
  return new Resealing({
    service: 'catalog',
    query: (statement) => store.statement(statement),
    box,
    tables,
    logger,
    metrics,
  })
}
