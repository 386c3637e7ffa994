import { z } from '@hono/zod-openapi'
import { int32, optionalText, requiredText, textMap } from '../../rest/fields.ts'

const timeout = () =>
  z.int({ error: ({ input }) => (input == null ? 'is required' : undefined) }).openapi({
    format: 'int64',
    minimum: 1000,
    maximum: 86_400_000,
    description: 'Milliseconds from now',
  })

export const createSandboxInput = z
  .object({
    imageId: requiredText().openapi({ description: 'Of the catalogue of images' }),
    name: optionalText(),
    metadata: textMap().nullish(),
    timeout: timeout().nullish(),
    publicHttpPorts: z.array(int32().openapi({ minimum: 1, maximum: 65_535 })).nullish(),
    publicHttpPortsBasicAuth: optionalText().openapi({
      description:
        'user:credential for the public ports; the credential as text, or as a bcrypt, apr1, MD5 or {SHA} hash',
    }),
  })
  .openapi('CreateSandboxInput', {
    example: { imageId: 'base', name: 'try-out', timeout: 300_000, publicHttpPorts: [8000] },
  })

export const updateSandboxInput = z
  .object({ timeout: timeout() })
  .openapi('UpdateSandboxInput', { example: { timeout: 600_000 } })
