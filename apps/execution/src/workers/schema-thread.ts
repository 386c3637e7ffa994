import { parentPort } from 'node:worker_threads'
import { Ajv, type ErrorObject, type SchemaObject, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

interface Request {
  digest: string
  schema: string
  parameters: string
}

const options = {
  strict: false,
  allErrors: true,
  ownProperties: true,
  logger: false,
  validateSchema: false,
  // 19.99 is a multiple of 0.01, though their quotient in binary is no whole number.
  multipleOfPrecision: 6,
} as const
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

// Makes the validator of schemas before the time of a request runs.
const latest = new Ajv2020(options)
void latest.validateSchema({})
parentPort?.postMessage('ready')

function validatorOf(digest: string, text: string): ValidateFunction {
  let validate = validators.get(digest)
  if (validate === undefined) {
    validate = compiled(JSON.parse(text) as SchemaObject)
  } else validators.delete(digest)
  validators.set(digest, validate)
  if (validators.size > room) validators.delete(validators.keys().next().value!)
  return validate
}

/** By the dialect that the schema names; without one by 2020-12 where it is such a schema, else by draft-07. */
function compiled(schema: SchemaObject): ValidateFunction {
  // An asynchronous validator would answer with a promise.
  if (typeof schema === 'object' && schema !== null) delete schema.$async
  const draft7 = () => compiledBy(new Ajv(options), schema)
  const { $schema } = schema
  if (typeof $schema === 'string')
    return $schema.includes('draft-07') ? draft7() : compiledBy(new Ajv2020(options), schema)
  if (latest.validateSchema(schema) !== true) return draft7()
  try {
    return compiledBy(new Ajv2020(options), schema)
  } catch (error) {
    // What neither can apply is told as the first puts it.
    try {
      return draft7()
    } catch {
      throw error
    }
  }
}

function compiledBy(ajv: Ajv, schema: SchemaObject): ValidateFunction {
  addFormats.default(ajv)
  return ajv.compile(schema)
}

function faultOf({ instancePath, keyword, params, message }: ErrorObject): { path: string; message: string } {
  const missing = keyword === 'required' ? (params as { missingProperty?: string }).missingProperty : undefined
  const extra =
    keyword === 'additionalProperties' ? (params as { additionalProperty?: string }).additionalProperty : undefined
  const name = missing ?? extra
  const path = name === undefined ? instancePath : `${instancePath}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
  return { path, message: message ?? 'is not valid' }
}
