import type { Readable } from 'node:stream'
import { linesOf } from '../lines.ts'

/** A JSON-RPC message, as far as the bridge looks at it. */
interface Message {
  id?: string | number
  method?: string
  params?: {
    name?: string
    uri?: string
    requestId?: string | number
    protocolVersion?: string
    _meta?: Record<string, unknown>
  }
  result?: { protocolVersion?: string }
  error?: { code: number; message: string }
}

interface BridgeOptions {
  /** The endpoint of Streamable HTTP. */
  url: string
  input: Readable
  /** Takes one message, without a newline. */
  write(message: string): void
  /** An access token; another one where that was `refused`, undefined where there is none. */
  token(refused?: string): Promise<string | undefined>
  fetch?: typeof fetch
}

const versionKey = 'io.modelcontextprotocol/protocolVersion'
const internalError = -32_603

/**
 * Carries the JSON-RPC lines of a stdio client to a server of Streamable HTTP and back, whatever they say, until the
 * input ends and every answer has come. A request that the client cancels is also cancelled by closing its stream.
 */
export async function bridge(options: BridgeOptions): Promise<void> {
  const session: { id?: string; protocolVersion?: string } = {}
  const open = new Map<string | number, AbortController>()
  const under = new Set<Promise<void>>()
  const send = options.fetch ?? fetch

  for await (const line of linesOf(options.input)) {
    if (line.trim() === '') continue
    const message = parse(line)
    if (message === undefined) {
      answer(undefined, -32_700, 'The line is no JSON')
      continue
    }
    const sent = deliver(message, line)
    under.add(sent)
    void sent.finally(() => under.delete(sent))
    // What is agreed there holds for all that follows; other messages do not wait for each other.
    if (message.method === 'initialize') await sent
    if (message.method === 'notifications/cancelled' && message.params?.requestId !== undefined) {
      await sent
      open.get(message.params.requestId)?.abort()
    }
  }
  await Promise.all(under)

  /** Sends one message and writes what comes back. Never rejects: what fails is an answer. */
  async function deliver(message: Message, line: string): Promise<void> {
    const cancel = new AbortController()
    const { id } = message
    const isRequest = id !== undefined && message.method !== undefined
    if (isRequest) open.set(id, cancel)
    try {
      const response = await post(message, line, cancel.signal)
      if (message.method === 'initialize') session.id = response.headers.get('mcp-session-id') ?? undefined
      await receive(message, response)
    } catch (error) {
      if (isRequest && !cancel.signal.aborted) answer(id, internalError, wordsOf(error))
    } finally {
      if (isRequest) open.delete(id)
    }
  }

  async function post(message: Message, body: string, signal: AbortSignal): Promise<Response> {
    const call = (token: string | undefined) => {
      const headers = {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        ...(session.id !== undefined && { 'Mcp-Session-Id': session.id }),
        ...(session.protocolVersion !== undefined && { 'MCP-Protocol-Version': session.protocolVersion }),
        ...headersOf(message),
      }
      // What is followed gets the body as well: what a tool is called with.
      return send(options.url, { method: 'POST', headers, body, signal, redirect: 'manual' })
    }
    const token = await options.token()
    const first = await call(token)
    if (first.status !== 401 || token === undefined) return first
    const renewed = await options.token(token)
    if (renewed === undefined) return first
    await first.body?.cancel()
    return call(renewed)
  }

  async function receive(message: Message, response: Response): Promise<void> {
    const location = response.headers.get('location')
    if (response.status >= 300 && response.status < 400 && location !== null)
      throw new Error(
        `The server answered ${response.status} and leads to ${location}, which is not followed: check the address of the service`,
      )
    const type = response.headers.get('content-type') ?? ''
    if (type.includes('text/event-stream')) return receiveStream(message, response)
    const text = await response.text()
    const body = parse(text)
    const isAnswer =
      body !== undefined && (body.result !== undefined || body.error !== undefined || Array.isArray(body))
    if (isAnswer) write(message, body, text)
    else if (message.id !== undefined && message.method !== undefined)
      answer(message.id, internalError, `The server answered ${response.status}: ${detailOf(text)}`)
  }

  async function receiveStream(message: Message, response: Response): Promise<void> {
    let isAnswered = false
    let data: string[] = []
    for await (const line of linesOf(response.body!)) {
      if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5))
      else if (line === '' && data.length > 0) {
        const text = data.join('\n')
        data = []
        const event = parse(text)
        if (event === undefined) continue
        isAnswered ||= event.method === undefined && event.id === message.id
        write(message, event, text)
      }
    }
    if (!isAnswered && message.id !== undefined && message.method !== undefined)
      answer(message.id, internalError, 'The stream of the server ended before its answer')
  }

  function write(message: Message, event: Message, text: string): void {
    if (message.method === 'initialize' && event.result?.protocolVersion !== undefined)
      session.protocolVersion = event.result.protocolVersion
    // A line is a message: a server may have written its JSON over several.
    options.write(/[\r\n]/.test(text) ? JSON.stringify(event) : text)
  }

  function answer(id: string | number | undefined, code: number, message: string): void {
    options.write(JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error: { code, message } }))
  }
}

/** The headers that a message of the stateless protocol repeats; the server checks that they agree. */
function headersOf({ method, params }: Message): Record<string, string> {
  const version = params?._meta?.[versionKey]
  if (typeof version !== 'string' || method === undefined) return {}
  const name = method === 'resources/read' ? params?.uri : params?.name
  const isNamed = ['tools/call', 'prompts/get', 'resources/read'].includes(method) && typeof name === 'string'
  return { 'MCP-Protocol-Version': version, 'Mcp-Method': method, ...(isNamed && { 'Mcp-Name': headerValue(name) }) }
}

/** A text as a header: plain where it is visible ASCII, else in base64 as the protocol says. */
function headerValue(text: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?')
  return isPlain ? text : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`
}

function parse(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** The words of a problem (RFC 9457), or the beginning of whatever it is. */
function detailOf(text: string): string {
  const { detail } = (parse(text) ?? {}) as { detail?: unknown }
  return typeof detail === 'string' ? detail : text.slice(0, 200)
}

function wordsOf(error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error ? `${message}: ${cause.message}` : message
}
