import { hash } from 'node:crypto'
import type { Tool } from '@modelcontextprotocol/server'
import { reaches } from './levels.ts'
import { pathOf, type RestCalls, type RestRequest } from './rest-calls.ts'
import { runResultSchema } from './run-result.ts'
import type { Selection } from './selection.ts'
import { inputSchemaOf, takesMembers, type JsonObject } from './shown-schema.ts'
import { teamText } from './team-text.ts'
import { ToolFault } from './tool-fault.ts'
import { toolRows } from './tool-rows.ts'

/** The tag of processes that are tools. */
const toolTag = 'mcp-tool'

const longestName = 60
const hashLength = 8
const pageSize = 1000

const reading = { scope: 'read', withoutSource: true }

/** A process of a list, or one that was read alone. */
interface ProcessJson {
  id: string
  slug: string
  name: string
  description?: string | null | undefined
  parametersSchema?: JsonObject | null | undefined
  tags?: string[] | undefined
}

/** The tool of a process, before its schema is known. */
interface ProcessTool {
  name: string
  process: ProcessJson
}

const ownNames = new Set(toolRows.map(({ name }) => name))

/** The name of the tool of a process: cut, with a part of a hash, where it is long or that of a tool of ours. */
function processToolName(slug: string): string {
  const name = `run_${slug}`
  if (name.length <= longestName && !ownNames.has(name)) return name
  return `${name.slice(0, longestName - hashLength - 1)}_${hash('sha256', slug).slice(0, hashLength)}`
}

/** Processes as tools, for who has connected. */
export class ProcessTools {
  readonly #rest: RestCalls
  readonly #selection: Selection

  constructor(rest: RestCalls, selection: Selection) {
    this.#rest = rest
    this.#selection = selection
  }

  /** All of them, by name. */
  async list(): Promise<ProcessTool[]> {
    const { words } = this.#selection
    const named: ProcessJson[] = []
    for (const word of words ?? []) named.push(...(await this.#read(word)))
    const tagged = await this.#tagged(words === undefined ? [toolTag] : [...words])
    const all = new Map([...named, ...tagged].map((process) => [process.id, process]))
    const tools = [...all.values()].filter((process) => this.#isTool(process)).map(toolOf)
    return tools.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** One of them; undefined where there is none of this name. */
  async find(name: string): Promise<ProcessTool | undefined> {
    if (!name.startsWith('run_')) return undefined
    const found = await this.#read(name.slice('run_'.length))
    const [tool] = found.filter((process) => this.#isTool(process)).map(toolOf)
    if (tool?.name === name) return tool
    return (await this.list()).find((one) => one.name === name)
  }

  /** What a client is told of it; undefined where it, or its version of the alias that the connection names, is not there. */
  async describe({ name, process }: ProcessTool): Promise<Tool | undefined> {
    const { slug } = process
    const schema = await found(this.#schema(process))
    if (schema === undefined) return undefined
    return {
      name,
      title: teamText(process.name) || slug,
      description: teamText(process.description ?? '') || `Runs the process ${slug}`,
      inputSchema: inputSchemaOf(schema) as Tool['inputSchema'],
      outputSchema: runResultSchema,
      annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    }
  }

  /** What starts a run of it. Faults: no version of the alias, arguments that its schema does not have. */
  async startOf({ process }: ProcessTool, given: JsonObject): Promise<RestRequest> {
    const { alias } = this.#selection
    const schema = await this.#schema(process)
    if (schema === undefined) throw new ToolFault(`It has no version of the alias ${teamText(alias ?? '')}`)
    if (!takesMembers(schema)) {
      const others = Object.keys(given).filter((name) => name !== 'parameters')
      if (others.length > 0) throw new ToolFault(`It takes parameters alone, not ${others.slice(0, 20).join(', ')}`)
    }
    const parameters = takesMembers(schema) ? given : (given['parameters'] ?? {})
    return {
      method: 'POST',
      path: pathOf('/processes/{id}/execute', { id: process.id }),
      body: { parameters, ...(alias !== undefined && { tag: alias }) },
    }
  }

  /** Whether it is a tool of this connection: those without the tag are named by who may run any process. */
  #isTool({ tags = [], slug }: ProcessJson): boolean {
    const { words } = this.#selection
    if (words !== undefined && ![slug, processToolName(slug), ...tags].some((one) => words.has(one))) return false
    return tags.includes(toolTag) || (words !== undefined && reaches(this.#rest.caller.scope, 'run'))
  }

  async #tagged(tags: string[]): Promise<ProcessJson[]> {
    const found: ProcessJson[] = []
    for (let page = 0, more = true; more; page += 1) {
      const path = pathOf('/processes', {}, { tags, page, limit: pageSize })
      const list = await this.#rest.json<{ data: ProcessJson[]; hasNextPage: boolean }>(
        { method: 'GET', path },
        reading,
      )
      found.push(...list.data.map(shownMembers))
      more = list.hasNextPage && list.data.length > 0
    }
    return found
  }

  /** The process of a slug, or of the name of its tool; none where there is none. */
  async #read(word: string): Promise<ProcessJson[]> {
    const slug = word.startsWith('run_') ? word.slice('run_'.length) : word
    if (!/^[a-z0-9-]+$/.test(slug)) return []
    const path = pathOf('/processes/{slug}', { slug })
    const process = await found(this.#rest.json<ProcessJson>({ method: 'GET', path }, reading))
    return process === undefined
      ? []
      : [shownMembers({ ...process, parametersSchema: process.parametersSchema ?? null })]
  }

  /** The schema of what it runs, null where it has none; undefined where there is no version of the alias. */
  async #schema(process: ProcessJson): Promise<JsonObject | null | undefined> {
    const { alias } = this.#selection
    const { id, parametersSchema } = process
    const one = pathOf('/processes/{id}', { id })
    if (alias === undefined) {
      if (parametersSchema !== undefined) return parametersSchema
      // A list leaves out what is large.
      return (await this.#rest.json<ProcessJson>({ method: 'GET', path: one }, reading)).parametersSchema ?? null
    }
    const path = pathOf('/processes/{id}/aliases', { id }, { limit: pageSize })
    const { data } = await this.#rest.json<{ data: { name: string; versionId: string }[] }>(
      { method: 'GET', path },
      reading,
    )
    const version = data.find(({ name }) => name === alias)
    if (version === undefined) return undefined
    const at = `${one}/versions/${version.versionId}`
    return (await this.#rest.json<ProcessJson>({ method: 'GET', path: at }, reading)).parametersSchema ?? null
  }
}

/** What a tool is made of, without the source, which may be large. */
function shownMembers({ id, slug, name, description, parametersSchema, tags }: ProcessJson): ProcessJson {
  return { id, slug, name, description, parametersSchema, tags }
}

function toolOf(process: ProcessJson): ProcessTool {
  return { name: processToolName(process.slug), process }
}

/** What is read; undefined where it is not there. */
async function found<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read
  } catch (error) {
    if (error instanceof ToolFault && error.code.endsWith('_not_found')) return undefined
    throw error
  }
}
