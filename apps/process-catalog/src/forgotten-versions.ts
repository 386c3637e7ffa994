import type { ExecutionService } from '@automation/contract/execution/v1/execution'
import { asService, ownContext, type Client } from '@automation/rpc'
import { timestampDate } from '@bufbuild/protobuf/wkt'
import { forgetContents } from './store/deleted-versions.ts'
import type { Store } from './store/store.ts'

const timeoutMs = 5000

/** Removes what is left of deleted versions once no execution of them is kept: execution says how far back its own go. */
export async function forgetVersions(store: Store, executions: Client<typeof ExecutionService>): Promise<void> {
  const { time } = await executions.getOldest({}, ownContext(asService('process-catalog'), timeoutMs))
  if (time !== undefined) await forgetContents(store, timestampDate(time))
}
