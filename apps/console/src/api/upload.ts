import { apiOf, baseOf, dataOf, type Schemas } from './client.ts'
import { ProblemError } from './problem.ts'
import { missingParts, partsOf, pauseMs } from '../rules/upload-parts.ts'
import { send } from './transfer.ts'

/** Files above this go in parts, which stay where the connection is cut. */
const IN_PARTS_ABOVE_BYTES = 64 * 1_048_576
/** Attempts of one part, or of the end; together some four minutes. */
const MOST_FAILURES = 12

const BYTES = { 'Content-Type': 'application/octet-stream' }

interface UploadCall {
  team: string
  name: string
  file: File
  /** An upload in parts that is to go on. */
  id?: string
  signal: AbortSignal
  onProgress: (sentBytes: number) => void
  /** Says that it waits for the connection, or goes on. */
  onWaiting: (isWaiting: boolean) => void
}

/** Stores a file of this computer as an object. */
export async function upload(what: UploadCall): Promise<void> {
  const { team, name, file, id, signal, onProgress } = what
  if (id !== undefined || file.size > IN_PARTS_ABOVE_BYTES) return uploadInParts(what)
  const address = `${baseOf(team)}/storage/objects?filename=${encodeURIComponent(name)}`
  await send(address, { method: 'POST', body: file, headers: BYTES, signal, onProgress })
}

async function uploadInParts(what: UploadCall): Promise<void> {
  const { team, file, signal, onProgress } = what
  const opened = await open(what)
  const { id, partSize, parts: present = [] } = opened
  remember(id, file)
  const missing = missingParts(partsOf(file.size, partSize), present)
  let done = file.size - missing.reduce((sum, { from, to }) => sum + to - from, 0)
  for (const { number, from, to } of missing) {
    const address = `${baseOf(team)}/storage/uploads/${id}/parts/${number}`
    const body = file.slice(from, to)
    await lasting(what, () =>
      send(address, { method: 'PUT', body, headers: BYTES, signal, onProgress: (sent) => onProgress(done + sent) }),
    )
    done += to - from
    onProgress(done)
  }
  const path = { path: { id } }
  await lasting(what, () => apiOf(team).POST('/storage/uploads/{id}/complete', { params: path, signal }))
  forget(id)
}

function open({ team, name, file, id, signal }: UploadCall): Promise<Schemas['StorageUpload']> {
  if (id !== undefined) return dataOf(apiOf(team).GET('/storage/uploads/{id}', { params: { path: { id } }, signal }))
  return dataOf(apiOf(team).POST('/storage/uploads', { body: { name, size: file.size }, signal }))
}

/** Tries again while what fails may pass: a cut connection, a service that is away or has too much to do. */
async function lasting<T>({ signal, onWaiting }: UploadCall, attempt: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      const result = await attempt()
      onWaiting(false)
      return result
    } catch (error) {
      if (signal.aborted || !mayPass(error) || failures >= MOST_FAILURES) throw error
      onWaiting(true)
      await pause(pauseMs(failures), signal)
    }
  }
}

function mayPass(error: unknown): boolean {
  if (error instanceof ProblemError) return error.problem.status >= 500 || error.problem.status === 429
  // A typed call says in words that there was no answer.
  return error instanceof TypeError || (error instanceof Error && error.cause instanceof TypeError)
}

/** Ends earlier when the browser is online again, and fails when the upload is cancelled. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const over = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', over)
      window.removeEventListener('online', over)
      if (signal.aborted) reject(new DOMException('Cancelled', 'AbortError'))
      else resolve()
    }
    const timer = setTimeout(over, ms)
    signal.addEventListener('abort', over)
    window.addEventListener('online', over)
  })
}

const keyOf = (id: string) => `upload:${id}`

/** Keeps which file it is, so that no other is taken for it after a reload. */
function remember(id: string, { lastModified }: File): void {
  localStorage.setItem(keyOf(id), String(lastModified))
}

function forget(id: string): void {
  localStorage.removeItem(keyOf(id))
}

/** Why a file can't be the rest of an open upload; undefined where it can. */
export function unlike({ id, size }: Schemas['StorageUpload'], file: File): string | undefined {
  if (size !== undefined && size !== file.size) return 'The file has another size than the one that was begun.'
  const modified = localStorage.getItem(keyOf(id))
  if (modified !== null && modified !== String(file.lastModified)) return 'The file has changed since it was begun.'
  return undefined
}
