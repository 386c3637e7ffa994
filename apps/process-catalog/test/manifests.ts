import { Language } from '@automation/contract/common/v1/language'
import { Status } from '@automation/contract/execution/v1/execution'
import type { CallContext } from '@automation/rpc'
import { until } from '@automation/testing'
import type { CatalogUnderTest } from './catalog-under-test.ts'

const { JAVASCRIPT } = Language

/** How an install that has succeeded looks to the catalog. */
export const succeed = { status: Status.FINISHED, returnValue: '{"digest":"abc"}' }

/** Calls on the manifests of a catalog's teams, and the installs that come of them. */
export function manifestsOf(catalog: () => CatalogUnderTest) {
  const dependencies = () => catalog().dependencies
  return {
    stage: (caller: CallContext, packages: Record<string, string>, language = JAVASCRIPT) =>
      dependencies().stageDependencies({ language, dependencies: packages }, caller),
    read: (caller: CallContext, language = JAVASCRIPT) => dependencies().getManifest({ language }, caller),
    install: (caller: CallContext, language = JAVASCRIPT) => dependencies().installDependencies({ language }, caller),
    discard: (caller: CallContext, language = JAVASCRIPT) => dependencies().discardDependencies({ language }, caller),

    /** The install that runs for these packages, as execution was asked for it. */
    running: ({ principal: { team } }: CallContext, packages: Record<string, string>) =>
      until(async () => {
        for (const each of catalog().execution.installs.values()) {
          if (each.status !== Status.RUNNING) continue
          const answer = await catalog()
            .resolve(team, '00000000-0000-0000-0000-000000000000', each.installId)
            .catch(() => undefined)
          const spec = answer?.outcome.case === 'spec' ? answer.outcome.value : undefined
          if (spec?.isInstall && JSON.stringify(spec.dependencies?.packages) === JSON.stringify(packages)) return each
        }
        return undefined
      }),
  }
}
