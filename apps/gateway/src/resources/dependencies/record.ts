import { InstallationStatus, type Manifest } from '@automation/contract/catalog/v1/dependency'
import { presentLanguage } from '../../rest/language.ts'

export const INSTALLATION_STATUS_NAMES = ['PENDING', 'INSTALLING', 'INSTALLED', 'FAILED'] as const

/** A team's dependencies of one language as JSON. */
export function presentManifest(manifest: Manifest): Record<string, unknown> {
  const { language, dependencies, nextInstallation: next } = manifest
  const name = presentLanguage(language)
  return {
    id: name,
    programmingLanguage: name,
    dependencies,
    nextInstallation: next && {
      status: InstallationStatus[next.status],
      error: next.error,
      dependencies: next.dependencies,
    },
  }
}
