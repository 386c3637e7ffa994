import { setImmediate } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { OpenAPIHono, type RouteConfig } from '@hono/zod-openapi'
import type { GatewayConfig } from '../config.ts'
import type { Operation } from '../rest/operation.ts'
import { describeOperation } from './describe.ts'
import type { DocumentJson, SchemaJson } from './document-json.ts'
import { EVERY_CALL, registerParts } from './document-parts.ts'
import { addExamples } from './examples.ts'
import { addLinks } from './links.ts'
import { shareRefusals } from './refusals.ts'
import { webhookPaths } from './webhook-paths.ts'

const DESCRIPTION = `Stores and runs code units (processes) for a team.

Get an access token: \`POST /api/{team}/rest/auth/token\` with the header \`x-api-token\`; then send it as
\`Authorization: Bearer\`. 401 means that the token is missing, expired or not valid; a valid one of another team gets 403.

Most lists have \`page\`, \`limit\`, \`total\`, \`hasNextPage\` and \`data\`, newest first. Unknown fields of a body are ignored, and
\`null\` stands for an absent field except in PATCH, where it clears what can be cleared. Times are RFC 3339 in UTC.

Every refusal is a problem (RFC 9457) with a stable \`code\`. A path answers 405 with \`Allow\` to methods that it does not
have, and HEAD where it has GET, webhooks aside.`

/** How many operations are made without a turn for others: all of them take long. */
const atOnce = 8

/** Makes the OpenAPI 3.1 document of the operations, once, when it is first asked for; gives its text, in UTF-8. */
export function openApiDocument(operations: readonly Operation[], config: GatewayConfig): () => Promise<Buffer> {
  // As bytes, which all answers share: of a text each has a copy until its client has taken it.
  let text: Promise<Buffer> | undefined
  return () => (text ??= makeDocument(operations, config).then((document) => Buffer.from(JSON.stringify(document))))
}

async function makeDocument(operations: readonly Operation[], config: GatewayConfig): Promise<object> {
  const idHeader = `${config.headerPrefix}Execution-ID`
  const head = {
    openapi: '3.1.0',
    info: {
      title: 'Process Automation Service',
      version: '1.0',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: config.publicUrl, description: 'This system' }],
  }
  const document = { paths: {}, components: {} } as DocumentJson
  for (let at = 0; at < operations.length; at += atOnce) {
    // Routes nothing: it is what makes documents.
    const described = new OpenAPIHono()
    registerParts(described.openAPIRegistry, config)
    for (const operation of operations.slice(at, at + atOnce))
      described.openAPIRegistry.registerPath(describeOperation(operation, idHeader) as RouteConfig)
    addPart(document, described.getOpenAPI31Document(head) as unknown as DocumentJson)
    await setImmediate()
  }
  addPart(document, { paths: webhookPaths(config.headerPrefix), components: { schemas: {} } })
  const steps = [nameParts, (made: DocumentJson) => addLinks(made.paths, idHeader), addExamples, shareRefusals]
  for (const step of steps) {
    step(document)
    await setImmediate()
  }
  const all = Object.values(document.paths).flatMap((methods) => Object.values(methods))
  // After those that a call is about.
  for (const operation of all) operation.parameters = [...(operation.parameters ?? []), ...EVERY_CALL]
  return { ...head, tags: describeTags(new Set(all.flatMap(({ tags }) => tags))), ...document }
}

function addPart({ paths, components }: DocumentJson, part: DocumentJson): void {
  // Copied, as what follows changes it, and constants are parts of it.
  const copy = structuredClone(part)
  for (const [path, methods] of Object.entries(copy.paths)) paths[path] = { ...paths[path], ...methods }
  for (const [kind, members] of Object.entries(copy.components))
    Object.assign(components, { [kind]: { ...components[kind as 'schemas'], ...members } })
}

/** What the groups of operations are about, in the order in which the document has them. */
const TEXTS: Record<string, string> = {
  Token: 'An API token is exchanged for an access token, which every other operation asks for.',
  Team: 'The team in the address: its name, its time zone, the teams that it inherits modules and variables from.',
  Processes: 'Code units in JavaScript or Python, with what they may be given and how they may be started.',
  Versions: 'Published versions of processes. A published version never changes; a run may name one by its tag.',
  Aliases: 'Names that point to versions of a process and can be pointed to others, such as `live`.',
  Code: 'Code that is run without having been saved, by an API token alone.',
  Executions: 'Runs of processes: start, wait, follow, list, kill, start once more. A terminal status never changes.',
  Schedules: 'Processes that run by a cron or once at a time, in the time zone of the team.',
  Forms: 'Processes that are started by a form, which is made from the schema of their parameters.',
  Webhooks: 'Processes that are started by a plain HTTP request, and that may decide on the answer.',
  Modules: 'Libraries that processes and other modules import by their names.',
  'Module versions': 'Published versions of modules.',
  'Module aliases': 'Names that point to versions of a module and can be pointed to others.',
  Variables: 'Keys and values that runs find in their environment. Sensitive ones are never shown again.',
  Dependencies: 'Packages from npm and PyPI, one list for each language: staged, then installed, then seen by runs.',
  Storage: 'Objects of the team under names that may have slashes, and links by which anybody may download one.',
  Sandboxes: 'Isolated environments with a deadline: commands, files and ports over gRPC, public ports over HTTP.',
  Audit: 'Who did what, kept after the thing itself is gone.',
}

/** The tags of a document that has operations with these names. */
function describeTags(used: ReadonlySet<string>): { name: string; description: string }[] {
  return Object.entries(TEXTS)
    .filter(([name]) => used.has(name))
    .map(([name, description]) => ({ name, description }))
}

/**
 * Moves every object schema with a title to the components, under that title, and refers to it where it stood; what is
 * said of it there (that it may be null, a description) stays there. Throws where two that differ have one title.
 */
function nameParts({ paths, components: { schemas } }: DocumentJson): void {
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
