import type { FieldFault } from './failure.ts'
import { mustBe, nounsOf, schemaWords, type SchemaError } from './schema-words.ts'

const longestList = 50

/** A fault, and what of the validator's error says how it joins with others. */
interface JoinableFault extends FieldFault {
  error: SchemaError
  /** What the value may be; of no fault that says more. */
  nouns: string[]
  isOfType: boolean
}

/**
 * The faults that a validator of JSON Schema has found, in plain words, each once; paths are pointers into the value. What
 * it says of each alternative of an `anyOf` or `oneOf` becomes one fault, or those of the one form that is meant.
 */
export function schemaFaults(errors: readonly SchemaError[]): FieldFault[] {
  const faults: JoinableFault[] = []
  for (const error of errors) {
    const { keyword } = error
    // Their faults are told already: those of the branch, and of the name.
    if (keyword === 'if' && faults.length > 0) continue
    if (keyword === 'propertyNames' && faults.at(-1)?.error.propertyName !== undefined) continue
    if (keyword === 'contains') takeBranches(faults, error)
    if (keyword === 'anyOf' || keyword === 'oneOf') faults.push(...joined(error, takeBranches(faults, error)))
    else faults.push(faultOf(error))
  }
  const distinct = new Map(faults.map(({ path, message }) => [`${path} ${message}`, { path, message }]))
  return [...distinct.values()].slice(0, longestList)
}

function faultOf(error: SchemaError): JoinableFault {
  const { instancePath, params, propertyName } = error
  const words = schemaWords(error)
  if (propertyName !== undefined) {
    const message = error.keyword === 'false schema' ? 'has a name that is not allowed' : `has a name that ${words}`
    return { path: `${instancePath}/${segment(propertyName)}`, message, error, nouns: [], isOfType: false }
  }
  const name = params['missingProperty'] ?? params['additionalProperty'] ?? params['unevaluatedProperty']
  const path = typeof name === 'string' ? `${instancePath}/${segment(name)}` : instancePath
  return { path, message: words, error, nouns: nounsOf(error), isOfType: error.keyword === 'type' }
}

/** Takes off what was told last of the alternatives that `whole` speaks of, which the validator tells before it. */
function takeBranches(faults: JoinableFault[], whole: SchemaError): JoinableFault[] {
  const inside = `${whole.schemaPath}/`
  const beside = whole.schemaPath.slice(0, whole.schemaPath.lastIndexOf('/') + 1)
  const references = referencesOf(whole)
  // Behind a reference the places in the schema begin anew.
  const isBranch = ({ error: { schemaPath, instancePath } }: JoinableFault) =>
    isWithin(instancePath, whole.instancePath) &&
    (schemaPath.startsWith(inside) ||
      references.some((reference) => schemaPath.startsWith(`${reference}/`)) ||
      (references.length > 0 && !schemaPath.startsWith(beside)))
  let from = faults.length
  while (from > 0 && isBranch(faults[from - 1] as JoinableFault)) from -= 1
  return faults.splice(from)
}

function joined(whole: SchemaError, parts: JoinableFault[]): JoinableFault[] {
  const { instancePath: path, schema } = whole
  const base = { path, error: whole, message: schemaWords(whole), nouns: [], isOfType: false }
  if (Array.isArray(whole.params['passingSchemas'])) return [{ ...base, message: `${base.message}, not several` }]
  if (parts.length > 0 && parts.every((part) => part.path === path && part.nouns.length > 0)) {
    const nouns = parts.flatMap((part) => part.nouns)
    const isOfType = parts.every((part) => part.isOfType)
    return [{ ...base, message: mustBe(nouns, isOfType ? whole : undefined), nouns, isOfType }]
  }
  const others = parts.filter((part) => part.path === path && isOtherForm(part, path))
  const within = parts.filter((part) => !others.includes(part))
  if (Array.isArray(schema) && others.length === schema.length - 1 && within.length > 0) return within
  const forms = Map.groupBy(parts, ({ error }) => branchOf(whole, error.schemaPath))
  const meant = [...forms.values()].filter((form) => !form.some((part) => isOtherForm(part, path)))
  return meant.length === 1 ? meant.flat() : [base]
}

/** Whether the value is not meant to be of this form: it is of another type, or a member says that it is another kind. */
function isOtherForm({ path, nouns, error: { keyword } }: JoinableFault, whole: string): boolean {
  if (path === whole) return nouns.length > 0 && keyword !== 'format'
  const isMember = path.lastIndexOf('/') === whole.length
  return isMember && (keyword === 'const' || keyword === 'enum')
}

function branchOf(whole: SchemaError, schemaPath: string): string {
  const inside = `${whole.schemaPath}/`
  if (schemaPath.startsWith(inside)) return schemaPath.slice(inside.length).split('/', 1)[0] as string
  return referencesOf(whole).find((reference) => schemaPath.startsWith(`${reference}/`)) ?? ''
}

function referencesOf({ schema }: SchemaError): string[] {
  return [schema].flat().flatMap((branch) => {
    const reference: unknown = (branch as { $ref?: unknown } | null | undefined)?.$ref
    return typeof reference === 'string' ? [reference] : []
  })
}

function isWithin(path: string, whole: string): boolean {
  return path === whole || path.startsWith(`${whole}/`)
}

function segment(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
