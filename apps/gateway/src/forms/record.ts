import type { Process } from '@automation/contract/catalog/v1/process'
import { z } from '@hono/zod-openapi'
import { presentSchema } from '../resources/processes/record.ts'
import { writtenObject } from '../rest/shared-fields.ts'
import { samples } from '../rest/samples.ts'

export const formRecord = z
  .object({
    name: z.string(),
    description: z.string().nullable(),
    schema: writtenObject().openapi({ description: 'JSON Schema of what the form asks for' }),
    ui: z
      .object({
        frameAncestors: z
          .array(z.string())
          .openapi({ description: 'Origins whose pages may show the form within them' }),
      })
      .optional()
      .openapi({ title: 'FormUi' }),
    submit: z
      .object({
        async: z.boolean().openapi({ description: 'A submission is answered at once, unless it has wait=true' }),
      })
      .openapi({ title: 'FormSubmit' }),
  })
  .openapi('Form', {
    example: {
      name: 'Greeting',
      description: 'Greets whoever is named',
      schema: samples.parametersSchema,
      submit: { async: true },
    },
  })

/** The form of a process that is asked for what `schema` (JSON text) says. */
export function presentForm(
  { name, description, settings }: Process,
  schema: string | undefined,
): z.input<typeof formRecord> {
  const frameAncestors = settings?.frameAncestors ?? []
  return {
    name,
    description: description ?? null,
    schema: presentSchema(schema) ?? { type: 'object' },
    ...(frameAncestors.length > 0 && { ui: { frameAncestors } }),
    submit: { async: true },
  }
}
