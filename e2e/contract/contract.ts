import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Described, Document, HeaderObject, OperationObject, ResponseObject, SchemaObject } from './document.ts'

/** An answer, as much of it as the document speaks of. */
export interface CheckedAnswer {
  status: number
  headers: Headers
  text: string
}

/** Headers that every server may send, whatever it answers. */
const TRANSPORT =
  /^(date|connection|keep-alive|content-length|content-type|transfer-encoding|vary|access-control-.*|x-request-id)$/

/** A system's OpenAPI document, which answers of the system are held against. */
export class Contract {
  readonly #document: Document
  readonly #ajv: Ajv2020
  readonly #validators = new Map<string, ValidateFunction>()
  readonly #match: (path: string) => string | undefined

  constructor(document: Document) {
    this.#document = document
    this.#match = matcherOf(Object.keys(document.paths))
    this.#ajv = new Ajv2020({ strict: false, allErrors: true })
    addFormats.default(this.#ajv)
    this.#ajv.addSchema(document, 'document')
  }

  /** The document that a running system has. */
  static async of(host: string): Promise<Contract> {
    const answer = await fetch(`${host}/openapi.json`)
    return new Contract((await answer.json()) as Document)
  }

  /**
   * What is wrong with an answer to a call, in words. `path` is from the root of the host, still encoded, without a query.
   * Nothing is said of calls that the document does not have.
   */
  faultsOf(method: string, path: string, answer: CheckedAnswer): string[] {
    const template = this.#match(path)
    const verb = method.toLowerCase()
    const operation = template && this.#document.paths[template]?.[verb]
    if (!template || !operation) return []
    const declared = this.#responseOf(operation, answer.status, ['paths', template, verb, 'responses'])
    // Where any status is right, a process decides on the answer, and adds headers of its own.
    const isOpen = operation.responses['default'] !== undefined
    const word = `${method} ${template}`
    if (declared === undefined) return [`${word} has no status ${answer.status}`]
    return [...this.#headerFaults(declared, answer, isOpen), ...this.#bodyFaults(declared, answer)].map(
      (fault) => `${word} ${answer.status}: ${fault}`,
    )
  }

  /** What is wrong with a value by the schema at a pointer into the document; empty where nothing is. */
  faultsOfValue(pointer: string, value: unknown): string[] {
    const validate = this.#validator(pointer)
    if (validate(value)) return []
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || '/'} ${message}`)
  }

  #responseOf({ responses }: OperationObject, status: number, at: string[]): Described<ResponseObject> | undefined {
    const key = [`${status}`, 'default'].find((one) => responses[one] !== undefined)
    return key === undefined ? undefined : this.#resolved(responses[key] as ResponseObject, [...at, key])
  }

  #headerFaults({ value, pointer }: Described<ResponseObject>, { headers }: CheckedAnswer, isOpen: boolean): string[] {
    const declared = Object.entries(value.headers ?? {}).map(([name, header]) => {
      return { name, ...this.#resolved<HeaderObject>(header, [...pointer, 'headers', name]) }
    })
    const missing = declared.filter((one) => one.value.required === true && !headers.has(one.name))
    const wrong = declared.flatMap((one) => {
      const text = headers.get(one.name)
      if (text === null || one.value.schema === undefined) return []
      return this.faultsOfValue(pointerOf([...one.pointer, 'schema']), typedText(text, one.value.schema)).map(
        (fault) => `header ${one.name}: ${fault}`,
      )
    })
    const names = new Set(declared.map(({ name }) => name.toLowerCase()))
    const more = [...headers.keys()].filter((name) => !names.has(name) && !TRANSPORT.test(name))
    return [
      ...missing.map(({ name }) => `the header ${name} is missing`),
      ...wrong,
      ...(isOpen ? [] : more.map((name) => `the header ${name} is not declared`)),
    ]
  }

  #bodyFaults({ value, pointer }: Described<ResponseObject>, { headers, text }: CheckedAnswer): string[] {
    const essence = (headers.get('content-type') ?? '').split(';')[0]?.trim() ?? ''
    const content = value.content ?? {}
    if (Object.keys(content).length === 0) return text === '' ? [] : ['a body is not declared']
    const type = [essence, '*/*'].find((one) => content[one] !== undefined)
    if (type === undefined) return [`the media type ${essence || '(none)'} is not declared`]
    if (!/[/+]json$/.test(essence) || type === '*/*') return []
    return this.faultsOfValue(pointerOf([...pointer, 'content', type, 'schema']), JSON.parse(text)).map(
      (fault) => `body: ${fault}`,
    )
  }

  #resolved<T extends object>(value: T & { $ref?: string }, at: string[]): Described<T> {
    if (value.$ref === undefined) return { value, pointer: at }
    const pointer = value.$ref.slice(2).split('/')
    let found: unknown = this.#document
    for (const step of pointer) found = (found as Record<string, unknown>)[step]
    return { value: found as T, pointer }
  }

  #validator(pointer: string): ValidateFunction {
    const known = this.#validators.get(pointer) ?? this.#ajv.compile({ $ref: `document#${pointer}` })
    this.#validators.set(pointer, known)
    return known
  }
}

/** What the text of a header stands for. */
function typedText(text: string, { type }: SchemaObject): unknown {
  if (type === 'integer') return Number(text)
  return type === 'boolean' && /^(true|false)$/.test(text) ? text === 'true' : text
}

/** Steps as a JSON pointer in a URI fragment. */
export function pointerOf(steps: readonly string[]): string {
  return steps.map((step) => `/${encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('')
}

/** Finds the template that a path fits, the one with the fewest parameters first; names of objects may have slashes. */
function matcherOf(templates: readonly string[]): (path: string) => string | undefined {
  const known = templates
    .map((template) => ({ template, parameters: template.split('{').length, pattern: patternOf(template) }))
    .toSorted((a, b) => a.parameters - b.parameters)
  return (path) => known.find(({ pattern }) => pattern.test(path))?.template
}

function patternOf(template: string): RegExp {
  const source = template
    .replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`)
    .replaceAll('{filename}', '.+')
    .replaceAll(/\{\w+\}/g, '[^/]+')
  return new RegExp(`^${source}$`)
}
