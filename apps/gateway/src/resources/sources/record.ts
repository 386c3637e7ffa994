import type { CheckSourceResponse, ImportKind } from '@automation/contract/catalog/v1/source'
import { z } from '@hono/zod-openapi'
import { int32 } from '../../rest/fields.ts'

const KIND_NAMES = ['builtin', 'package', 'module', 'missing'] as const

const place = () => int32().openapi({ minimum: 1 })

const syntaxFault = z
  .object({ message: z.string(), line: place(), column: place().optional() })
  .openapi({ title: 'SourceFault' })

const foundImport = z
  .object({
    name: z.string(),
    kind: z.enum(KIND_NAMES).openapi({ description: 'What a run finds by that name; `missing`: nothing' }),
    version: z.string().optional().openapi({
      description: 'Of a module: the version that the source names. Of a package: what the team has installed of it',
    }),
  })
  .openapi({ title: 'SourceImport' })

export const sourceCheckRecord = z
  .object({
    ok: z.boolean().openapi({ description: 'It has no syntax fault; imports may be missing' }),
    faults: z.array(syntaxFault),
    imports: z.array(foundImport).openapi({ description: 'Each name once, as far as the source names them literally' }),
  })
  .openapi('SourceCheck', {
    example: {
      ok: true,
      faults: [],
      imports: [
        { name: 'node:fs', kind: 'builtin' },
        { name: 'lodash', kind: 'package', version: '^4.17.0' },
        { name: 'greetings', kind: 'module' },
        { name: 'loadsh', kind: 'missing' },
      ],
    },
  })

/** What a source was found to be. */
export function presentSourceCheck({ faults, imports }: CheckSourceResponse): z.input<typeof sourceCheckRecord> {
  return {
    ok: faults.length === 0,
    faults: faults.map(({ message, line, column }) => ({ message, line, column })),
    imports: imports.map(({ name, kind, version }) => ({ name, kind: presentKind(kind), version })),
  }
}

function presentKind(kind: ImportKind): (typeof KIND_NAMES)[number] {
  return KIND_NAMES[kind - 1] ?? 'missing'
}
