import type { StartExecutionRequestSchema } from '@automation/contract/execution/v1/execution'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { z } from '@hono/zod-openapi'
import { isObject, parseJson } from '../json/decode.ts'
import { memberText } from '../json/scan.ts'
import { jsonObject, optionalFlag, optionalText } from './fields.ts'
import { invalidInput } from './validate.ts'

const UINT32_MAX = 2 ** 32 - 1

const settings = z.object({
  agentPoolSlug: optionalText(),
  callbackUrl: optionalText(),
  timeout: z
    .number()
    .int()
    .min(0)
    .max(UINT32_MAX)
    .nullish()
    .openapi({
      type: ['integer', 'null'],
      minimum: 100,
      description: 'Milliseconds, 100 up to the configured maximum',
    }),
  freshProcess: optionalFlag(),
})

export const executeProcessInput = z
  .object({
    parameters: jsonObject('the parameters').nullish(),
    tag: optionalText().openapi({ description: 'A version id, a version tag or an alias' }),
    comment: optionalText(),
    settings: z.preprocess((value) => (value === '' ? undefined : value), settings.nullish()),
  })
  .openapi('ExecuteProcessInput')

export type StartRequest = Exclude<MessageInitShape<typeof StartExecutionRequestSchema>, { $typeName: string }>

/**
 * What starts a run of `identifier`. The parameters stay the text that they came as, so that no number changes. `body` is
 * the text that the input was read from. Failure: invalid_input at /parameters.
 */
export function startRequest(
  identifier: string,
  input: z.output<typeof executeProcessInput>,
  body: string,
): StartRequest {
  const wanted = input.settings ?? undefined
  return {
    identifier,
    tag: input.tag ?? '',
    parameters: Buffer.from(parametersText(input.parameters, body)),
    comment: input.comment,
    settings: {
      agentPool: wanted?.agentPoolSlug,
      callbackUrl: wanted?.callbackUrl,
      timeoutMs: wanted?.timeout ?? undefined,
      freshProcess: wanted?.freshProcess ?? false,
    },
  }
}

function parametersText(parameters: string | object | null | undefined, body: string): string {
  if (parameters == null || parameters === '') return '{}'
  if (typeof parameters !== 'string') return memberText(body, 'parameters') ?? '{}'
  if (!isObject(parseJson(parameters, '/parameters')))
    throw invalidInput([{ path: '/parameters', message: 'must hold a JSON object' }])
  return parameters
}
