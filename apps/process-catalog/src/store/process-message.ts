import type { ProcessSchema } from '@automation/contract/catalog/v1/process'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import type { Process } from '../../prisma/generated/client.ts'
import { languageOf } from '../language.ts'

export type ProcessMessage = MessageInitShape<typeof ProcessSchema>

type ShownRow = Omit<Process, 'webhookPasswordHash' | 'sourceCode'> & { sourceCode?: string; leftOut?: string[] }

/** A process's row as a message; the password's hash stays behind. */
export function processMessage(row: ShownRow): ProcessMessage {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    description: row.description ?? undefined,
    readme: row.readme ?? undefined,
    language: languageOf(row.language),
    sourceCode: row.sourceCode,
    parametersSchema: row.parametersSchema ?? undefined,
    webhook: { enabled: row.webhookEnabled, username: row.webhookUsername ?? undefined },
    settings: {
      formsEnabled: row.formsEnabled,
      publicEnabled: row.publicEnabled,
      publicToken: row.publicToken ?? undefined,
      dependenciesScopedToProcess: row.dependenciesScopedToProcess,
      dependenciesAutoDetect: row.dependenciesAutoDetect,
    },
    dependencies: JSON.parse(row.dependencies) as Record<string, string>,
    tags: row.tags,
    createdBy: row.createdBy,
    createdAt: timestampFromDate(row.createdAt),
    updatedBy: row.updatedBy ?? undefined,
    updatedAt: timestampFromDate(row.updatedAt),
    leftOut: row.leftOut,
  }
}
