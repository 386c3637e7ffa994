import {
  FileService,
  FileType,
  type FileEntry,
  type WriteFileRequestSchema,
} from '@automation/contract/sandbox/v1/daemon'
import { Failure } from '@automation/errors'
import type { CallContext, Client } from '@automation/rpc'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { z } from '@hono/zod-openapi'
import { bodyStream, requirePlain } from '../../http/body.ts'
import type { BodyBudget } from '../../http/body-budget.ts'
import { type Exchange, whenOver } from '../../http/exchange.ts'
import { bodyTooLarge } from '../../http/refusals.ts'
import { type Call, type Reply, unhurried } from '../../rest/operation.ts'
import { sandboxId, sandboxPath } from '../../rest/parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { callRefusals, daemonRefusal, type UserCalls } from '../../sandbox-ports/user-calls.ts'
import { fileEntryRecord, presentFileEntry } from './file-entry.ts'

const MAX_FILE_BYTES = 2 ** 30
// What waits here of a file that goes on into its sandbox.
const BUFFERED_BYTES = 128 * 1024

const MAX_ENTRIES = 5000
const LIST_TIMEOUT_MS = 60_000
const MAX_LIST_BYTES = 4 * 1024 * 1024

/** Whether a request target is that of a file in a sandbox, whose bodies may be larger than others. */
export function sandboxFileMaxBytes(target: string): number | undefined {
  return /^\/api\/[^/?]+\/rest\/sandboxes\/[^/?]+\/files\//.test(target) ? MAX_FILE_BYTES : undefined
}

const known = {
  path_not_found: 'not_found',
  path_exists: 'failed_precondition',
  path_denied: 'permission_denied',
  not_a_file: 'failed_precondition',
  not_a_directory: 'failed_precondition',
  directory_not_empty: 'failed_precondition',
  invalid_input: 'invalid_argument',
  no_space: 'too_large',
  // Of the body that goes in.
  body_too_large: 'too_large',
  malformed_request: 'invalid_argument',
  request_timeout: 'deadline_exceeded',
} as const

const pointers = { '/path': '/path', '/start/path': '/path' }

const bytes = z.string().openapi({ format: 'binary' })

interface FileDependencies {
  budget: BodyBudget
  userCalls: UserCalls
}

/** Files and directories of a sandbox: read, write, remove. */
export function sandboxFileRoutes(api: RestApi, { budget, userCalls }: FileDependencies): void {
  const one = {
    path: '/sandboxes/{sandboxId}/files/{path}',
    tag: 'Sandboxes',
    scope: 'build',
    parameters: { sandboxId, path: sandboxPath },
  } as const
  const open = async ({ params, context, exchange }: Call<unknown, unknown>): Promise<Client<typeof FileService>> => {
    const { channel, release } = await userCalls.open(params['sandboxId'] ?? '', context)
    whenOver(exchange, release)
    return channel.client(FileService)
  }

  api.add(
    {
      ...one,
      method: 'get',
      timeoutMs: LIST_TIMEOUT_MS,
      summary: 'Read a file of a sandbox, or list a directory of it by name',
      success: {
        status: 200,
        description: 'The content of a file; an answer whose connection is cut is not all of it',
        schema: bytes,
        mediaType: 'application/octet-stream',
        alsoAs: { 'application/json': z.array(fileEntryRecord) },
        headers: { 'Content-Security-Policy': 'sandbox' },
      },
      refusals: {
        ...callRefusals,
        400: [...callRefusals[400], 'not_a_file', 'not_a_directory', 'directory_too_large'],
        403: ['path_denied'],
      },
    },
    async (call) => {
      const files = await open(call)
      const path = call.params['path'] ?? ''
      const found = await files.statFile({ path, followLinks: true }, call.context).catch(refused)
      const headers = { 'Content-Security-Policy': 'sandbox' }
      if (found.type === FileType.DIRECTORY) return { body: await listed(files, path, call.context), headers }
      if (found.type === FileType.OTHER) throw new Failure('failed_precondition', 'not_a_file', 'This is no file')
      return content(files, path, found, { context: unhurried(call), headers })
    },
  )

  api.add(
    {
      ...one,
      method: 'put',
      summary: 'Write a file of a sandbox, with the directories above it; one of the same path is replaced at once',
      content: { 'application/octet-stream': bytes },
      bodyOptional: true,
      success: {
        status: 204,
        description: 'It is there, whole, in place of another',
        others: { 201: { text: 'It is there, whole, and new', isEmpty: true } },
      },
      refusals: {
        ...callRefusals,
        400: [...callRefusals[400], 'not_a_file', 'not_a_directory', 'path_exists'],
        403: ['path_denied'],
        413: ['no_space'],
      },
    },
    async (call) => {
      const { exchange } = call
      requirePlain(exchange.incoming)
      if (Number(exchange.incoming.headers['content-length']) > MAX_FILE_BYTES) throw bodyTooLarge(MAX_FILE_BYTES)
      const files = await open(call)
      const path = call.params['path'] ?? ''
      const before = await files.statFile({ path }, call.context).catch(absent)
      budget.takeForUpload(exchange, BUFFERED_BYTES)
      // What may be executed still may.
      const mode = before?.type === FileType.FILE ? before.mode : undefined
      await files.writeFile(written({ path, mode, makeDirectories: true }, exchange), unhurried(call)).catch(refused)
      return { status: before === undefined ? 201 : 204 }
    },
  )

  api.add(
    {
      ...one,
      method: 'delete',
      summary: 'Remove a file or a directory of a sandbox',
      query: z.object({
        recursive: z
          .enum(['true', 'false'])
          .optional()
          .openapi({ description: 'Also a directory that is not empty', default: 'false' }),
      }),
      success: { status: 204, description: 'It is gone' },
      refusals: {
        ...callRefusals,
        400: [...callRefusals[400], 'not_a_directory', 'directory_not_empty'],
        403: ['path_denied'],
      },
    },
    async (call) => {
      const files = await open(call)
      const recursive = call.query.recursive === 'true'
      await files.removeFile({ path: call.params['path'], recursive }, call.context).catch(refused)
      return {}
    },
  )
}

function refused(error: unknown): never {
  throw daemonRefusal(error, known, pointers)
}

/** Undefined where nothing is there; what else is wrong is told by what comes next. */
function absent(error: unknown): undefined {
  const failure = daemonRefusal(error, known, pointers)
  if (failure.code === 'sandbox_unreachable' || failure.kind === 'deadline_exceeded') throw failure
}

async function listed(files: Client<typeof FileService>, path: string, context: CallContext) {
  const entries = []
  let size = 0
  try {
    for await (const entry of files.listDirectory({ path }, context)) {
      size += entry.path.length
      if (entries.length >= MAX_ENTRIES || size > MAX_LIST_BYTES) throw tooLarge()
      entries.push(presentFileEntry(entry))
    }
  } catch (error) {
    throw error instanceof Failure && error.code === 'directory_too_large' ? error : daemonRefusal(error, known)
  }
  return entries
}

function tooLarge(): Failure {
  const text = `The directory has more than ${MAX_ENTRIES} entries: list it by a command`
  return new Failure('failed_precondition', 'directory_too_large', text)
}

interface Reading {
  context: CallContext
  headers: Record<string, string>
}

/** The answer with a file. The kernel's own, as in /proc, say that they are empty: their end is where reading ends. */
async function content(
  files: Client<typeof FileService>,
  path: string,
  { type, size }: FileEntry,
  { context, headers }: Reading,
): Promise<Reply> {
  // A daemon of an earlier release does not look behind a link.
  const length = type === FileType.FILE && size > 0n ? size : undefined
  const pieces = piecesOf(files, { path, length }, context)
  const described = { ...headers, 'Content-Type': 'application/octet-stream' }
  if (length !== undefined) return { source: pieces, headers: { ...described, 'Content-Length': String(length) } }
  const first = await pieces.next()
  if (first.done === true) return { source: pieces, headers: { ...described, 'Content-Length': '0' } }
  return { source: resumed(first.value, pieces), headers: described }
}

async function* piecesOf(
  files: Client<typeof FileService>,
  { path, length }: { path: string; length: bigint | undefined },
  context: CallContext,
): AsyncGenerator<Uint8Array, void, undefined> {
  let sent = 0n
  try {
    for await (const { data } of files.readFile({ path, offset: 0n, length }, context)) {
      sent += BigInt(data.byteLength)
      if (length !== undefined && sent > length) break
      yield data
    }
  } catch (error) {
    throw daemonRefusal(error, known, pointers)
  }
  // It became shorter meanwhile: the client sees that this is not what was announced.
  if (length !== undefined && sent !== length) throw new Failure('not_found', 'path_not_found', 'The file has changed')
}

/** Ends the others, too, where it is ended at the first. */
async function* resumed(first: Uint8Array, others: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield first
    yield* others
  } finally {
    await others.return(undefined)
  }
}

type Write = MessageInitShape<typeof WriteFileRequestSchema>
type Start = Extract<NonNullable<Write['message']>, { case: 'start' }>['value']

async function* written(start: Start, { incoming }: Exchange): AsyncGenerator<Write> {
  yield { message: { case: 'start', value: start } }
  for await (const value of bodyStream(incoming, MAX_FILE_BYTES)) yield { message: { case: 'data', value } }
  yield { message: { case: 'end', value: {} } }
}
