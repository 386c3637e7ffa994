import { parentPort } from 'node:worker_threads'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

interface Request {
  digest: string
  schema: string
  parameters: string
}

const options = { strict: false, allErrors: true, ownProperties: true, logger: false, validateSchema: false } as const
const room = 200
const longestList = 50
const validators = new Map<string, ValidateFunction>()

/** Answers `{ digest, schema, parameters }` with the faults: `[{ path, message }]`, paths being pointers into the parameters. */
parentPort?.on('message', ({ digest, schema, parameters }: Request) => {
  try {
    const validate = validatorOf(digest, schema)
    const right = validate(JSON.parse(parameters))
    const errors = right === true ? [] : (validate.errors ?? [])
    parentPort?.postMessage({ answer: errors.slice(0, longestList).map(faultOf) })
  } catch (error) {
    parentPort?.postMessage({ error: String(error) })
  }
})
parentPort?.postMessage('ready')

function validatorOf(digest: string, text: string): ValidateFunction {
  let validate = validators.get(digest)
  if (validate === undefined) {
    const schema = JSON.parse(text) as { $schema?: unknown; $async?: unknown }
    // An asynchronous validator would answer with a promise.
    if (typeof schema === 'object' && schema !== null) delete schema.$async
    const draft7 = typeof schema?.$schema === 'string' && schema.$schema.includes('draft-07')
    const ajv = draft7 ? new Ajv(options) : new Ajv2020(options)
    addFormats.default(ajv)
    validate = ajv.compile(schema as object)
  } else validators.delete(digest)
  validators.set(digest, validate)
  if (validators.size > room) validators.delete(validators.keys().next().value!)
  return validate
}

function faultOf({ instancePath, keyword, params, message }: ErrorObject): { path: string; message: string } {
  const missing = keyword === 'required' ? (params as { missingProperty?: string }).missingProperty : undefined
  const extra =
    keyword === 'additionalProperties' ? (params as { additionalProperty?: string }).additionalProperty : undefined
  const name = missing ?? extra
  const path = name === undefined ? instancePath : `${instancePath}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
  return { path, message: message ?? 'is not valid' }
}
