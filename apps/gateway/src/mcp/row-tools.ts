import type { CallToolResult, InputRequiredResult, ServerContext, Tool } from '@modelcontextprotocol/server'
import { isUtf8 } from 'node:buffer'
import { isObject } from '../http/json.ts'
import { confirmation } from './confirmation.ts'
import { unending, type AwaitedRuns, type Listener } from './awaited-runs.ts'
import { reaches, scopeOf } from './levels.ts'
import type { ProcessTools } from './process-tools.ts'
import type { Reach, RestCalls, RestRequest } from './rest-calls.ts'
import { mostBytes, runResultSchema } from './run-result.ts'
import { isWanted, type Selection } from './selection.ts'
import type { JsonObject } from './shown-schema.ts'
import { textOf } from './text-stream.ts'
import { ToolFault } from './tool-fault.ts'
import { requestOf, rowSchema, type OperationInputs } from './tool-inputs.ts'
import { toolRows, type ToolRow } from './tool-rows.ts'

const mostContentBytes = 128 * 1024

/** The operations that tools are made of, by their ids. */
export type Operations = ReadonlyMap<string, OperationInputs>

/** Tools over single operations of the REST interface, for who has connected. */
export class RowTools {
  readonly #rest: RestCalls
  readonly #operations: Operations
  readonly #rows: readonly ToolRow[]

  constructor(rest: RestCalls, selection: Selection, operations: Operations) {
    this.#rest = rest
    this.#operations = operations
    const { scope } = rest.caller
    this.#rows = toolRows.filter((row) => mayUse(row, scope) && isWanted(selection, row))
  }

  list(): Tool[] {
    return this.#rows.map((row) => {
      const operation = this.#operation(row.operationId)
      return {
        name: row.name,
        description: `${row.description ?? operation.summary}.`,
        inputSchema: rowSchema(row, operation) as Tool['inputSchema'],
        ...(isRun(row) && { outputSchema: runResultSchema }),
        annotations: annotationsOf(row),
        _meta: { 'process-automation/operationId': row.operationId },
      }
    })
  }

  find(name: string): ToolRow | undefined {
    return this.#rows.find((row) => row.name === name)
  }

  /** What a tool answers to its arguments. Faults: arguments, and what the operation refuses. */
  async call(
    row: ToolRow,
    args: JsonObject,
    { context, runs, listener, processes }: RowCall,
  ): Promise<CallToolResult | InputRequiredResult> {
    const request = requestOf(row, this.#operation(row.operationId), args)
    const reach = this.#reach(row)
    if (row.confirms !== undefined) {
      const { member, of } = row.confirms
      const name = of === undefined ? args[member] : await this.#member(request, of, member)
      const asked = confirmation({ tool: row.name, name: String(name), confirm: args['confirm'] }, context)
      if (asked !== undefined) return asked
    }
    switch (row.gives) {
      case 'run':
        return runs.run(async () => {
          const started = this.#rest.json<{ executionId: string }>(request, { ...reach, signal: unending })
          return (await started).executionId
        }, listener)
      case 'ended run': {
        const { id, processSlug } = await this.#rest.json<{ id: string; processSlug: string }>(request, reach)
        await this.#requireOwnTool(processSlug, processes)
        return runs.wait(id, listener)
      }
      case 'object':
        return this.#rest.within(request, reach, objectAnswer)
      case 'command output':
        return this.#rest.within(request, reach, commandAnswer)
      default:
        return jsonAnswer(row, await this.#rest.json(request, reach))
    }
  }

  #operation(id: string): OperationInputs {
    const operation = this.#operations.get(id)
    if (operation === undefined) throw new Error(`There is no operation ${id}`)
    return operation
  }

  #reach({ only, scope, level }: ToolRow): Reach {
    return { scope: only === undefined ? (scope ?? scopeOf[level]) : this.#rest.caller.scope }
  }

  /** What is to be deleted is read at its own address. */
  async #member({ path }: RestRequest, operationId: string, member: string): Promise<unknown> {
    const { method } = this.#operation(operationId)
    const record = await this.#rest.json<JsonObject>({ method, path }, { scope: scopeOf.read })
    return record[member]
  }

  /** Who may not read executions is told of those of tools alone. */
  async #requireOwnTool(processSlug: string, processes: ProcessTools): Promise<void> {
    if (reaches(this.#rest.caller.scope, 'read')) return
    const tools = await processes.list()
    if (!tools.some(({ process }) => process.slug === processSlug))
      throw new ToolFault('There is no such execution of a tool (execution_not_found)')
  }
}

/** In words, the scope that a tool of this name needs and this one has not; undefined where there is no such tool. */
export function neededScope(name: string, scope: string): string | undefined {
  const row = toolRows.find((one) => one.name === name)
  if (row === undefined || mayUse(row, scope)) return undefined
  return row.only ?? `mcp:${row.level}, or all of ${row.scope ?? scopeOf[row.level]}`
}

/** What a call of a tool goes with. */
interface RowCall {
  context: ServerContext
  runs: AwaitedRuns
  listener: Listener
  processes: ProcessTools
}

function mayUse({ only, level, scope: needed }: ToolRow, scope: string): boolean {
  return only === undefined ? reaches(scope, level, needed) : scope.split(' ').includes(only)
}

function isRun({ gives }: ToolRow): boolean {
  return gives === 'run' || gives === 'ended run'
}

function annotationsOf({ effect }: ToolRow): Tool['annotations'] {
  const isOpen = effect === 'runs'
  return {
    readOnlyHint: effect === undefined,
    destructiveHint: effect === 'deletes' || effect === 'changes' || isOpen,
    openWorldHint: isOpen,
  }
}

/** Keys and tokens that records show to who may build: an assistant needs none. */
const credentials = ['grpcApiKey', 'publicConfig.token']

function jsonAnswer({ name, leavesOut = [] }: ToolRow, body: unknown): CallToolResult {
  const shown =
    isObject(body) && Array.isArray(body['data']) ? { ...body, data: body['data'].map(shorten) } : shorten(body)
  const text = shown === undefined ? 'Done.' : JSON.stringify(shown)
  if (Buffer.byteLength(text) > mostContentBytes)
    throw new ToolFault(
      `The answer of ${name} is larger than ${mostContentBytes} bytes: ask for less, by limit, page or a filter`,
    )
  return textAnswer(text)

  function shorten(record: unknown): unknown {
    if (Array.isArray(record)) return record.map(shorten)
    if (!isObject(record)) return record
    return withoutCredentials(Object.fromEntries(Object.entries(record).filter(([key]) => !leavesOut.includes(key))))
  }
}

function withoutCredentials(value: unknown, holder = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => withoutCredentials(one, holder))
  if (!isObject(value)) return value
  const isCredential = (key: string) => credentials.includes(key) || credentials.includes(`${holder}.${key}`)
  const kept = Object.entries(value).filter(([key]) => !isCredential(key))
  return Object.fromEntries(kept.map(([key, one]) => [key, withoutCredentials(one, key)]))
}

function textAnswer(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] }
}

async function objectAnswer(response: Response): Promise<CallToolResult> {
  const bytes = Buffer.from(await bounded(response, mostContentBytes))
  const contentType = response.headers.get('content-type') ?? ''
  const shown = isUtf8(bytes)
    ? { content: bytes.toString('utf8') }
    : { content: bytes.toString('base64'), isBase64: true }
  const text = JSON.stringify({ contentType, size: bytes.length, ...shown })
  const answer = textAnswer(text)
  if (Buffer.byteLength(JSON.stringify(answer)) > mostBytes) throw tooLarge()
  return answer
}

async function bounded({ body }: Response, most: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body ?? []) {
    size += piece.byteLength
    if (size > most) throw tooLarge()
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

function tooLarge(): ToolFault {
  return new ToolFault(`The object is larger than ${mostContentBytes} bytes: read it over REST`)
}

interface CommandLine {
  type: 'stdout' | 'stderr' | 'exit'
  data?: string
  code?: number
  signal?: string
  message?: string
}

/** What a command has written, with its end; of more than 128 KiB the beginning. */
async function commandAnswer({ body }: Response): Promise<CallToolResult> {
  const output = { stdout: '', stderr: '' }
  let end: Partial<CommandLine> = {}
  let size = 0
  let isTruncated = false
  for await (const line of linesOf(body)) {
    const { type, data = '', ...rest } = JSON.parse(line) as CommandLine
    if (type !== 'stdout' && type !== 'stderr') end = { ...rest }
    else {
      size += Buffer.byteLength(data)
      if (size <= mostContentBytes) output[type] += data
      else isTruncated = true
    }
  }
  return { ...textAnswer(JSON.stringify({ ...output, ...end, truncated: isTruncated })), isError: end.code !== 0 }
}

async function* linesOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<string> {
  let text = ''
  for await (const piece of body === null ? [] : textOf(body)) {
    const lines = (text + piece).split('\n')
    text = lines.pop() ?? ''
    yield* lines
  }
  if (text !== '') yield text
}
