import { parentPort } from 'node:worker_threads'
import { schemaFaults } from '@automation/errors/schema-faults'
import { Ajv, type ErrorObject, type SchemaObject, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { LRUCache } from 'lru-cache'
import { typeTexts } from './typed-texts.ts'

interface Request {
  digest: string
  schema: string
  parameters: string
  /** They are texts: they get the types that the schema names for them. */
  areTexts: boolean
  /** Whether they must match the schema. */
  isEnforced: boolean
}

const options = {
  strict: false,
  allErrors: true,
  // With the values at fault, for the words of it.
  verbose: true,
  ownProperties: true,
  logger: false,
  validateSchema: false,
  // 19.99 is a multiple of 0.01, though their quotient in binary is no whole number.
  multipleOfPrecision: 6,
} as const

interface Known {
  schema: SchemaObject
  /** Once it was asked for. */
  validate?: ValidateFunction
}

/** Those that were asked for least lately are forgotten. */
const known = new LRUCache<string, Known>({ max: 200 })

/** Answers with the faults, `[{ path, message }]`, paths being pointers into the parameters, and what the texts read as. */
parentPort?.on('message', (request: Request) => {
  try {
    parentPort?.postMessage({ answer: answerTo(request) })
  } catch (error) {
    parentPort?.postMessage({ error: String(error) })
  }
})

function answerTo({ digest, schema, parameters, areTexts, isEnforced }: Request) {
  const value = JSON.parse(parameters) as Record<string, unknown>
  const own = knownOf(digest, schema)
  const typed = areTexts && typeTexts(value, own.schema) ? JSON.stringify(value) : undefined
  if (!isEnforced) return { faults: [], typed }
  const validate = (own.validate ??= compiled(own.schema))
  if (validate(value)) return { faults: [], typed }
  return { faults: schemaFaults(withoutFiles(validate.errors ?? [])), typed }
}

const fileFormats = new Set<unknown>(['binary', 'file', 'data-url'])

/** Whether it says that a file is no text, where the schema asks for one as OpenAPI does: the process gets what describes it. */
function isOfFile({ keyword, parentSchema, data }: ErrorObject): boolean {
  const isAsked = keyword === 'type' && fileFormats.has(parentSchema?.['format'])
  return isAsked && typeof (data as { storagePath?: unknown } | null)?.storagePath === 'string'
}

/** Also without what an `anyOf` or `oneOf` says where one of its branches has nothing else against it. */
function withoutFiles(errors: ErrorObject[]): ErrorObject[] {
  const files: ErrorObject[] = []
  let left: ErrorObject[] = []
  for (const error of errors) {
    if (isOfFile(error)) files.push(error)
    else if (error.keyword !== 'anyOf' && error.keyword !== 'oneOf') left.push(error)
    else {
      const branches = branchesOf(error)
      const isTaken = branches.some((isOfBranch) => files.some(isOfBranch) && !left.some(isOfBranch))
      if (isTaken) left = left.filter((one) => !branches.some((isOfBranch) => isOfBranch(one)))
      else left.push(error)
    }
  }
  return left
}

/** Of each branch, whether it says an error: by its place in the schema, which begins anew behind a reference. */
function branchesOf({ schema, schemaPath, instancePath }: ErrorObject): ((error: ErrorObject) => boolean)[] {
  return (schema as { $ref?: unknown }[]).map((branch, at) => {
    const places = [`${schemaPath}/${at}/`, ...(typeof branch.$ref === 'string' ? [`${branch.$ref}/`] : [])]
    return (error) =>
      `${error.instancePath}/`.startsWith(`${instancePath}/`) &&
      places.some((place) => error.schemaPath.startsWith(place))
  })
}

// Makes the validator of schemas before the time of a request runs.
const latest = new Ajv2020(options)
void latest.validateSchema({})
parentPort?.postMessage('ready')

/** A schema, read once. */
function knownOf(digest: string, text: string): Known {
  const own = known.get(digest) ?? { schema: JSON.parse(text) as SchemaObject }
  known.set(digest, own)
  return own
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
