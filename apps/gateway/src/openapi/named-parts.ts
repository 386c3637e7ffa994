import { isDeepStrictEqual } from 'node:util'
import type { DocumentJson, SchemaJson } from './document-json.ts'

/**
 * Moves every object schema with a title to the components, under that title, and refers to it where it stood; what is
 * said of it there (that it may be null, a description) stays there. Throws where two that differ have one title.
 */
export function nameParts({ paths, components: { schemas } }: DocumentJson): void {
  const parts: Record<string, SchemaJson> = {}
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    for (const inner of Object.values(node)) walk(inner)
    if (isPart(node)) refer(node, parts)
  }
  walk(paths)
  walk(schemas)
  Object.assign(schemas, parts)
}

interface Part extends SchemaJson {
  title: string
}

function isPart(node: object): node is Part {
  return 'title' in node && typeof node.title === 'string' && 'properties' in node
}

function refer(node: Part, parts: Record<string, SchemaJson>): void {
  const { title, type, description, deprecated, ...rest } = node
  const part: SchemaJson = { type: 'object', ...rest }
  if (parts[title] !== undefined && !isDeepStrictEqual(parts[title], part))
    throw new Error(`Two schemas that differ are called ${title}`)
  parts[title] = part
  const reference = { $ref: `#/components/schemas/${title}` }
  for (const name of Object.keys(node)) Reflect.deleteProperty(node, name)
  Object.assign(node, [type].flat().includes('null') ? { anyOf: [reference, { type: 'null' }] } : reference, {
    ...(description !== undefined && { description }),
    ...(deprecated !== undefined && { deprecated }),
  })
}
