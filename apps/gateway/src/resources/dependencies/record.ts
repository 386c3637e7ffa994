import { InstallationStatus, type Manifest } from '@automation/contract/catalog/v1/dependency'
import { z } from '@hono/zod-openapi'
import { languageName, presentLanguage, textMap } from '../../rest/fields.ts'

const status = z.enum(['PENDING', 'INSTALLING', 'INSTALLED', 'FAILED'])

export const manifestRecord = z
  .object({
    id: languageName(),
    programmingLanguage: languageName(),
    dependencies: textMap().openapi({ description: 'Installed' }),
    nextInstallation: z
      .object({
        status,
        error: z.string().optional().openapi({ description: "The installer's last lines, where it failed" }),
        dependencies: textMap(),
      })
      .openapi({ title: 'NextInstallation' })
      .optional()
      .openapi({ description: 'What is staged' }),
  })
  .openapi('ProgrammingLanguageManifest', {
    example: {
      id: 'JAVASCRIPT',
      programmingLanguage: 'JAVASCRIPT',
      dependencies: {},
      nextInstallation: { status: 'PENDING', dependencies: { ms: '^2.1.3' } },
    },
  })

/** A team's dependencies of one language as JSON. */
export function presentManifest(manifest: Manifest): z.input<typeof manifestRecord> {
  const { dependencies, nextInstallation: next } = manifest
  const language = presentLanguage(manifest.language)
  return {
    id: language,
    programmingLanguage: language,
    dependencies,
    nextInstallation: next && {
      status: InstallationStatus[next.status] as z.input<typeof status>,
      error: next.error,
      dependencies: next.dependencies,
    },
  }
}
