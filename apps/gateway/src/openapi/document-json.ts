/** The parts of an OpenAPI document that are worked on once it is made. */
export interface DocumentJson {
  paths: Record<string, Record<string, OperationJson>>
  components: { schemas: Record<string, SchemaJson>; responses?: Record<string, ResponseJson> }
}

export interface OperationJson {
  operationId: string
  tags: string[]
  parameters?: object[]
  requestBody?: { description?: string; required?: boolean; content: Record<string, MediaTypeJson> }
  responses: Record<string, ResponseJson>
}

interface ResponseJson {
  $ref?: string
  headers?: Record<string, { $ref?: string }>
  content?: Record<string, MediaTypeJson>
  links?: Record<string, object>
}

export interface MediaTypeJson {
  schema?: SchemaJson
  example?: unknown
}

export interface SchemaJson {
  $ref?: string
  title?: string
  description?: string
  deprecated?: boolean
  type?: string | string[]
  format?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  example?: unknown
  minimum?: number
  maximum?: number
  properties?: Record<string, SchemaJson>
  items?: SchemaJson
  additionalProperties?: SchemaJson | boolean
  anyOf?: SchemaJson[]
  oneOf?: SchemaJson[]
  allOf?: SchemaJson[]
}
