import { z } from '@hono/zod-openapi'
import { int32 } from '../rest/fields.ts'

/** The body of every refusal; for the document only, http/problem.ts makes it. */
export const problemRecord = z
  .object({
    type: z.literal('about:blank'),
    title: z.string().openapi({ description: 'The name of the status' }),
    status: int32().openapi({ minimum: 400, maximum: 599 }),
    detail: z.string().openapi({ description: 'What is wrong, in words that may be shown' }),
    instance: z.string().openapi({ description: 'Path of the request' }),
    message: z.string().openapi({ description: 'The same text as detail' }),
    code: z.string().openapi({
      pattern: '^[a-z]+(_[a-z]+)*$',
      description: 'A stable word. Each answer lists those that it can have; a later release may add some',
    }),
    requestId: z.string().openapi({ description: 'As in the header X-Request-Id' }),
    errors: z
      .array(
        z
          .object({ path: z.string().openapi({ description: 'JSON pointer' }), message: z.string() })
          .openapi({ title: 'FieldFault' }),
      )
      .optional()
      .openapi({ description: 'The faults of the input, one by one' }),
    executionId: z.string().optional().openapi({ format: 'uuid', description: 'Where it is about one execution' }),
  })
  .openapi('Problem', { description: 'RFC 9457 problem details' })

/** A member of refusals of runs that failed, for who may read the execution. */
export const codeErrorRecord = z
  .object({
    name: z.string(),
    message: z.string(),
    line: int32().optional().openapi({ minimum: 0, description: 'Of the source of the process' }),
  })
  .openapi('CodeError', { description: 'What the code of the run has failed with' })
