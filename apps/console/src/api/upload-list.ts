import { useSyncExternalStore } from 'react'
import { queryClient } from './query-client.ts'
import { upload } from './upload.ts'

export interface Upload {
  key: number
  team: string
  name: string
  sizeBytes: number
  sentBytes: number
  state: 'waiting' | 'sending' | 'cut' | 'done' | 'failed'
  error?: Error
  /** Of an upload in parts that goes on. */
  id?: string
}

interface Job {
  file: File
  abort: AbortController
}

/** At the same time; the others wait. */
const MOST_AT_ONCE = 2

let uploads: readonly Upload[] = []
const jobs = new Map<number, Job>()
const listeners = new Set<() => void>()
let nextKey = 1

function set(next: readonly Upload[]): void {
  uploads = next
  for (const listener of listeners) listener()
}

const change = (key: number, changes: Partial<Upload>): void =>
  set(uploads.map((one) => (one.key === key ? { ...one, ...changes } : one)))

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The uploads of this tab, which go on while other pages are open. */
export const useUploads = (): readonly Upload[] => useSyncExternalStore(subscribe, () => uploads)

/** Begins to upload a file, or goes on with the open upload `id`. */
export function startUpload(team: string, name: string, file: File, id?: string): void {
  const key = nextKey
  nextKey += 1
  jobs.set(key, { file, abort: new AbortController() })
  set([...uploads, { key, team, name, sizeBytes: file.size, sentBytes: 0, state: 'waiting', id }])
  next()
}

/** Ends an upload, or takes one that has ended from the list. */
export function dropUpload(key: number): void {
  jobs.get(key)?.abort.abort()
  jobs.delete(key)
  set(uploads.filter((one) => one.key !== key))
  next()
}

/** Ends all uploads and forgets them. */
export function dropAllUploads(): void {
  for (const { abort } of jobs.values()) abort.abort()
  jobs.clear()
  set([])
}

/** Takes those that have succeeded from the list. */
export const clearUploads = (): void => set(uploads.filter(({ state }) => state !== 'done'))

function next(): void {
  const running = uploads.filter(({ state }) => state === 'sending' || state === 'cut').length
  const waiting = uploads.find(({ state }) => state === 'waiting')
  if (waiting === undefined || running >= MOST_AT_ONCE) return
  change(waiting.key, { state: 'sending' })
  void run(waiting)
  next()
}

/** Never rejects. */
async function run({ key, team, name, id }: Upload): Promise<void> {
  const job = jobs.get(key)
  if (job === undefined) return
  const { file, abort } = job
  try {
    await upload({
      team,
      name,
      file,
      id,
      signal: abort.signal,
      onProgress: (sentBytes) => change(key, { sentBytes, state: 'sending' }),
      onWaiting: (isWaiting) => change(key, { state: isWaiting ? 'cut' : 'sending' }),
    })
    change(key, { state: 'done', sentBytes: file.size })
  } catch (error) {
    change(key, { state: 'failed', error: error instanceof Error ? error : new Error(String(error)) })
  }
  jobs.delete(key)
  void queryClient.invalidateQueries({ queryKey: [team, 'storage'] })
  next()
}

window.addEventListener('beforeunload', (event) => {
  if (jobs.size > 0) event.preventDefault()
})
