import { createHash } from 'node:crypto'
import type { StartExecutionRequestSchema } from '@automation/contract/execution/v1/execution'
import { memberText } from '@automation/contract/json-text'
import { invalid } from '@automation/errors'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { z } from '@hono/zod-openapi'
import { draftInput } from './draft.ts'
import { isObject, parseJson } from '../../http/json.ts'
import { blankable, clearableText, jsonObject } from '../../rest/fields.ts'
import { samples } from '../../rest/samples.ts'
import { invalidInput, pointerOf } from '../../rest/rest-api.ts'

const UINT32_MAX = 2 ** 32 - 1
const MOST_NAMED = 20

export const executionSettingsInput = z
  .object({
    agentPoolSlug: clearableText(),
    callbackUrl: clearableText(),
    timeout: z
      .number()
      .int()
      .min(0)
      .max(UINT32_MAX)
      .nullish()
      .openapi({
        type: ['integer', 'null'],
        format: 'int64',
        minimum: 100,
        description: 'Milliseconds, 100 up to the configured maximum',
      }),
    freshProcess: z.boolean().nullish(),
  })
  .openapi({ title: 'ExecutionSettingsInput' })

/** What a run is started with, now or by a schedule; `""` means the same as `null`. */
export const runInput = z
  .object({
    parameters: jsonObject('the parameters').nullish(),
    tag: clearableText().openapi({ description: 'A version id, a version tag or an alias' }),
    comment: clearableText(),
    settings: blankable(executionSettingsInput),
  })
  .openapi({
    title: 'ScheduledRunInput',
    example: { parameters: samples.parameters, comment: 'By hand', settings: { timeout: 30_000 } },
  })

/** The same of a run that is started now. */
export const executeProcessInput = runInput.extend({ draft: draftInput.nullish() }).openapi({
  title: 'ExecuteProcessInput',
  example: { parameters: samples.parameters, comment: 'By hand', settings: { timeout: 30_000 } },
})

/** What a run that is repeated is given in place of what it had. */
export const rerunInput = z
  .object({
    parameters: executeProcessInput.shape.parameters,
    tag: clearableText().openapi({
      description: 'A version id (also of a deleted version), a version tag or an alias',
    }),
    comment: executeProcessInput.shape.comment,
    settings: executeProcessInput.shape.settings,
  })
  .openapi({
    title: 'RerunExecutionInput',
    description: 'What is absent is as it was',
    example: { parameters: samples.parameters, comment: 'Once more', settings: { timeout: 60_000 } },
  })

export const replayInput = z
  .object({
    tag: clearableText().openapi({
      description:
        'A version id, a version tag or an alias; absent it is the version of the execution, or the current source where it had none',
    }),
  })
  .openapi('ReplayExecutionInput', { example: { tag: 'v2' } })

export type RunInput = z.output<typeof runInput>

export type StartRequest = Exclude<MessageInitShape<typeof StartExecutionRequestSchema>, { $typeName: string }>

/**
 * Refuses a body that has members, and none of those that a start has: it holds the parameters themselves, which would be
 * lost. `body` is what the input was read from, `known` has its members. Failure: invalid_input at each of them.
 */
export function refuseBareParameters(input: object, body: unknown, known: z.ZodObject = executeProcessInput): void {
  if (Object.values(input).some((value) => value != null)) return
  const names = isObject(body) ? Object.keys(body) : []
  if (names.length === 0 || names.some((name) => Object.hasOwn(known.shape, name))) return
  const message = 'is not known here; parameters stand in the member "parameters": {"parameters": {…}}'
  throw invalidInput(names.slice(0, MOST_NAMED).map((name) => ({ path: pointerOf([name]), message })))
}

/**
 * What starts a run of `identifier`. The parameters stay the text that they came as, so that no number changes. `body` is
 * the text that the input was read from. Failure: invalid_input at /parameters.
 */
export function startRequest(identifier: string, input: RunInput, body: string): StartRequest {
  return { identifier, ...runValues(input, { text: body, pointer: '' }) }
}

/** The same for any request that has a run's values. `from` is the text of the input and where it stands in the body. */
export function runValues(input: RunInput, from: { text: string; pointer: string }) {
  const wanted = input.settings
  return {
    tag: input.tag ?? '',
    parameters: Buffer.from(parametersText(input.parameters, from)),
    comment: input.comment ?? undefined,
    settings: {
      agentPool: wanted?.agentPoolSlug ?? undefined,
      callbackUrl: wanted?.callbackUrl ?? undefined,
      timeoutMs: wanted?.timeout ?? undefined,
      freshProcess: wanted?.freshProcess ?? false,
    },
  }
}

/** What is given otherwise for a run that is repeated; `body` is the text that the input was read from. */
export function rerunValues(input: z.output<typeof rerunInput>, body: string) {
  const { parameters, tag, comment, settings: wanted } = input
  const isGiven = parameters != null && parameters !== ''
  return {
    parameters: isGiven ? Buffer.from(parametersText(parameters, { text: body, pointer: '' })) : undefined,
    tag: tag ?? undefined,
    comment: comment ?? undefined,
    settings: {
      agentPool: wanted?.agentPoolSlug ?? undefined,
      callbackUrl: wanted?.callbackUrl ?? undefined,
      timeoutMs: wanted?.timeout ?? undefined,
    },
    freshProcess: wanted?.freshProcess ?? undefined,
  }
}

function parametersText(parameters: RunInput['parameters'], from: { text: string; pointer: string }): string {
  if (parameters == null || parameters === '') return '{}'
  if (typeof parameters !== 'string') return memberText(from.text, 'parameters') ?? '{}'
  const path = `${from.pointer}/parameters`
  const value = parseJson(parameters, path)
  // What clients write that have no parameters to pass on.
  if (value === null || (Array.isArray(value) && value.length === 0)) return '{}'
  if (!isObject(value)) throw invalidInput([{ path, message: 'must hold a JSON object' }])
  return parameters
}

const MAX_CHARS = 255

/** The key of a request, and a digest of what must be the same for it to count as the same request. */
interface IdempotencyKey {
  key: string
  requestHash: Uint8Array
}

/**
 * Reads the header Idempotency-Key; undefined when there is none. `parts` are the request's method, its raw body, its encoded
 * query and the version tag. Failure: invalid_input.
 */
export function idempotencyKey(
  header: string | string[] | undefined,
  parts: { method: string | undefined; body: Uint8Array; query: string; tag: string },
): IdempotencyKey | undefined {
  if (header === undefined || header === '') return undefined
  const key = String(header)
  if (key.length > MAX_CHARS)
    throw invalid('/Idempotency-Key', `Idempotency-Key is longer than ${MAX_CHARS} characters`)
  const digest = createHash('sha256')
  // A GET means its query, a POST its body: with an empty one they would be alike.
  if (parts.method === 'GET') digest.update('GET ')
  for (const part of [parts.tag, parts.query]) digest.update(`${part.length}:`).update(part)
  return { key, requestHash: digest.update(parts.body).digest() }
}
