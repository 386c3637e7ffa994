import { SealingService } from '@automation/contract/sandbox/v1/sealing'
import { SecretBox } from '@automation/database'
import { served } from '@automation/rpc'
import type { Part, PartContext } from '@automation/service'
import type { SandboxConfig } from './config.ts'
import { sealingService } from './rpc/sealing-service.ts'
import { sandboxResealing } from './store/sealed-tables.ts'
import { Store } from './store/store.ts'

/** What an operator may do with stored keys of sandboxes while the sandbox service does not run. */
export function createSandboxSealing(
  { databaseUrl, encryptionKeys }: Pick<SandboxConfig, 'databaseUrl' | 'encryptionKeys'>,
  context: Pick<PartContext, 'logger' | 'metrics'>,
): Part {
  const store = new Store(databaseUrl, context, { poolSize: 1, migrates: true })
  const resealing = sandboxResealing(store, new SecretBox(encryptionKeys), context)
  const stopping = new AbortController()
  return {
    name: 'sandbox',
    serves: [served(SealingService, sealingService(resealing))],
    start: () => store.open(stopping.signal),
    async stop() {
      stopping.abort()
      await store.close()
    },
    async ready() {
      return [await store.check()]
    },
  }
}
