/** The parts of an OpenAPI document that tests look at. */
export interface Document {
  openapi: string
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, OperationObject>>
  components: Record<string, Record<string, object>>
}

export interface OperationObject {
  operationId: string
  tags: string[]
  summary: string
  parameters?: { $ref?: string; in: string; name: string; schema: SchemaObject; description?: string }[]
  requestBody?: { content: Record<string, MediaTypeObject> }
  responses: Record<string, ResponseObject>
}

export interface ResponseObject {
  $ref?: string
  description: string
  headers?: Record<string, HeaderObject>
  content?: Record<string, MediaTypeObject>
  links?: Record<string, { operationId: string; parameters: Record<string, string> }>
}

export interface HeaderObject {
  $ref?: string
  required?: boolean
  schema?: SchemaObject
}

export interface MediaTypeObject {
  schema?: SchemaObject
  example?: unknown
}

export interface SchemaObject {
  type?: string | string[]
  [word: string]: unknown
}

/** A part of the document, and where it stands. */
export interface Described<T> {
  value: T
  pointer: string[]
}
