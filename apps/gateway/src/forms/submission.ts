import { setImmediate } from 'node:timers/promises'
import type { Process } from '@automation/contract/catalog/v1/process'
import { isJson, mediaTypeOf, readBody, type BodyRules } from '../http/body.ts'
import type { Exchange } from '../http/exchange.ts'
import { invalidJson, isObject, parseJson, utf8Text } from '../http/json.ts'
import { boundedParameters } from '../http/json-growth.ts'
import { unsupportedMediaType } from '../http/refusals.ts'
import { idempotencyKey, type StartRequest } from '../resources/executions/input.ts'
import { readMultipart } from '../webhooks/multipart.ts'
import { type FormFile, LONG_WORK_BYTES } from '../webhooks/payload.ts'

/** A submission of a form, read: what it starts, and the files that came with it. */
export interface Submission {
  start: StartRequest
  files: FormFile[]
}

/**
 * Reads what was submitted: a JSON object or a multipart form; its texts get the types that the schema of the process
 * names. Failures: those of the body, invalid_json, and those of forms.
 */
export async function readSubmission(exchange: Exchange, process: Process, rules: BodyRules): Promise<Submission> {
  const { headers } = exchange.incoming
  const bytes = await readBody(exchange, rules)
  // Others have their turn between what is done with all of a large body.
  if (bytes.length > LONG_WORK_BYTES) await setImmediate()
  const { parameters, files } = await valuesOf(bytes, headers['content-type'], rules.maxBytes)
  const key = { method: 'POST', body: bytes, query: exchange.query, tag: '' }
  const start: StartRequest = {
    identifier: process.id,
    tag: process.settings?.formsTag ?? '',
    parameters: boundedParameters(parameters, rules.maxBytes),
    textualParameters: parameters !== '{}',
    idempotencyKey: idempotencyKey(headers['idempotency-key'], key),
    form: true,
  }
  return { start, files }
}

interface Values {
  /** JSON text of an object. */
  parameters: string
  files: FormFile[]
}

async function valuesOf(bytes: Buffer, contentType = '', maxBytes: number): Promise<Values> {
  const { essence } = mediaTypeOf(contentType)
  if (bytes.length === 0) return { parameters: '{}', files: [] }
  if (essence === 'multipart/form-data') {
    const { parameters, files = [] } = await readMultipart(bytes, contentType, maxBytes)
    return { parameters, files }
  }
  if (essence !== '' && !isJson(essence))
    throw unsupportedMediaType('The body must be application/json or multipart/form-data')
  const text = utf8Text(bytes)
  if (text === undefined) throw invalidJson('', 'is not valid UTF-8')
  if (!isObject(parseJson(text))) throw invalidJson('', 'must be a JSON object')
  return { parameters: text, files: [] }
}
