import { Origin, RunSettingsSchema } from '@automation/contract/execution/v1/execution'
import type { InstallService } from '@automation/contract/execution/v1/install'
import { pageInfo, windowOf } from '@automation/database'
import { notFound } from '@automation/errors'
import { installsProcessId } from '@automation/contract/installs'
import { memberIn, principalIn, type Handlers } from '@automation/rpc'
import { create } from '@bufbuild/protobuf'
import { isUuid } from '@automation/contract/forms'
import type { Admission } from '../accept/admission.ts'
import { deepest } from '../dispatch/nesting.ts'
import { readInstall } from '../store/executions.ts'
import { readInstallLog } from '../store/install-logs.ts'
import type { Queries } from '../store/connections.ts'

/** Installs of dependencies: runs like others, but that no list shows them. */
export function installService(
  admission: Admission,
  pool: Queries,
  timeoutMaxMs: number,
): Handlers<typeof InstallService> {
  return {
    startInstall: async ({ installId, timeoutMs }, context) => {
      const { name } = principalIn(context, 'service')
      const { id } = await admission.accept({
        team: memberIn(context).team,
        identifier: installsProcessId,
        tag: installId,
        origin: Origin.REST,
        isInstall: true,
        parameters: new Uint8Array(),
        settings: create(RunSettingsSchema, { timeoutMs: Math.min(timeoutMs, timeoutMaxMs) }),
        createdBy: name,
        // Runs of any depth may wait for it.
        depth: deepest,
        key: { scope: 'install', key: installId },
      })
      return { executionId: id }
    },

    getInstall: async ({ executionId }, context) => {
      principalIn(context, 'service')
      const install = isUuid(executionId) ? await readInstall(pool, memberIn(context).team, executionId) : undefined
      if (install === undefined) throw notFound('execution')
      return install
    },

    listInstallLogs: async ({ executionId, page }, context) => {
      principalIn(context, 'service')
      const window = windowOf(page)
      const id = executionId.toLowerCase()
      const { lines, total } = isUuid(id)
        ? await readInstallLog(pool, memberIn(context).team, id, window)
        : { lines: [], total: 0 }
      const entries = lines.map(([timeUs, level, message]) => ({ timeUs: BigInt(timeUs), level, message }))
      return { entries, page: pageInfo(window, total, entries.length) }
    },
  }
}
