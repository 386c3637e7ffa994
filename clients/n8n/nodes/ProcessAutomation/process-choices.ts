import {
  type FieldType,
  type ILoadOptionsFunctions,
  type INodeListSearchResult,
  type ResourceMapperField,
  type ResourceMapperFields,
} from 'n8n-workflow'
import { call, type Page } from './api.ts'

interface ListedProcess {
  slug: string
  name: string
}

interface JsonSchema {
  type?: string | string[]
  title?: string
  enum?: unknown[]
  format?: string
  default?: unknown
  properties?: Record<string, JsonSchema>
  required?: string[]
}

const pageSize = 50

/** A page of the processes whose name or description has a text; `paginationToken` is the number of the next one. */
export async function searchProcesses(
  this: ILoadOptionsFunctions,
  filter?: string,
  paginationToken?: string,
): Promise<INodeListSearchResult> {
  const page = Number(paginationToken ?? 0)
  const query = { limit: pageSize, page, ...(filter && { keywords: filter }) }
  const { data, hasNextPage } = await call<Page<ListedProcess>>(this, { path: '/processes', query })
  return {
    results: data.map(({ name, slug }) => ({ name, value: slug })),
    paginationToken: hasNextPage ? String(page + 1) : undefined,
  }
}

/** A field for each parameter that the schema of the chosen process names. */
export async function readParameterFields(this: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
  const process = this.getNodeParameter('process', '', { extractValue: true }) as string
  if (process === '') return { fields: [], emptyFieldsNotice: 'Choose a process first' }
  const path = `/processes/${encodeURIComponent(process)}`
  const { parametersSchema } = await call<{ parametersSchema: JsonSchema | null }>(this, { path })
  const { properties = {}, required = [] } = parametersSchema ?? {}
  const fields = Object.entries(properties).map(([id, schema]) => fieldOf(id, schema, required.includes(id)))
  return { fields, emptyFieldsNotice: 'The process has no schema of its parameters: give them as JSON' }
}

function fieldOf(id: string, schema: JsonSchema, required: boolean): ResourceMapperField {
  const type = fieldTypeOf(schema)
  return {
    id,
    displayName: schema.title ?? id,
    required,
    defaultMatch: false,
    canBeUsedToMatch: false,
    display: true,
    type,
    ...(type === 'options' && {
      options: schema.enum?.map((value) => ({ name: String(value), value: String(value) })),
    }),
    ...(isPlain(schema.default) && { defaultValue: schema.default }),
  }
}

function fieldTypeOf({ type, enum: choices, format }: JsonSchema): FieldType {
  const [first = 'string'] = [type ?? []].flat().filter((one) => one !== 'null')
  if (first === 'string' && choices !== undefined) return 'options'
  if (first === 'string' && format === 'date-time') return 'dateTime'
  if (first === 'number' || first === 'integer') return 'number'
  if (first === 'boolean' || first === 'array' || first === 'object') return first
  return 'string'
}

const isPlain = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value)
