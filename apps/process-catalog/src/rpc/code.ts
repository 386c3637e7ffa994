import type { CodeService } from '@automation/contract/catalog/v1/code'
import { isUuid } from '@automation/contract/forms'
import type { Handlers } from '@automation/rpc'
import type { Catalog } from '../catalog.ts'
import { releaseProcess, takeProcess } from '../processes/code-processes.ts'
import { processHandlers } from './processes.ts'

/** The processes of code that is run without having been saved. */
export function codeHandlers(catalog: Catalog): Handlers<typeof CodeService> {
  const processes = processHandlers(catalog)
  return {
    async takeProcess(request, context) {
      const { id, processId } = await takeProcess(catalog, processes, request, context)
      return { useId: id, processId }
    },

    async releaseProcess(request, context) {
      if (isUuid(request.useId)) await releaseProcess(catalog, request, context)
      return {}
    },
  }
}
