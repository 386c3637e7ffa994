import { setTimeout as pause } from 'node:timers/promises'
import type { V1Pod } from '@kubernetes/client-node'
import type { Logger } from '@automation/service'
import { statusOf, type ClusterApi } from './api.ts'

interface PodWatchOptions {
  api: ClusterApi
  namespace: string
  /** `label=value,…` */
  selector: string
  /** All that there are: what is not among them is gone. */
  listed(pods: V1Pod[]): void
  changed(pod: V1Pod): void
  gone(pod: V1Pod): void
  /** Whether what was told is as the API has it. */
  current(is: boolean): void
  logger: Logger
}

/** The resource version from which a watch goes on; undefined: all is listed again. */
type Cursor = string | undefined

const firstPauseMs = 100
const maxPauseMs = 10_000
// The API ends a watch after so long; the client ends it where nothing came for 30 s.
const watchSeconds = 300

/** Lists, then watches from there on, until it is aborted; whatever fails is tried again after a pause that grows. */
export async function watchPods(options: PodWatchOptions, signal: AbortSignal): Promise<void> {
  let cursor: Cursor
  let pauseMs = firstPauseMs
  const there = () => {
    pauseMs = firstPauseMs
    options.current(true)
  }
  while (!signal.aborted) {
    try {
      cursor ??= await list(options)
      cursor = await watch(options, cursor, { there, signal })
    } catch (error) {
      if (signal.aborted) return
      options.current(false)
      if (statusOf(error) === 410) cursor = undefined
      options.logger.warn({ err: error, pauseMs }, 'pods can not be watched, trying again')
      await pause(pauseMs * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined)
      pauseMs = Math.min(pauseMs * 2, maxPauseMs)
    }
  }
}

async function list({ api, namespace, selector, listed }: PodWatchOptions): Promise<string> {
  const { items, metadata } = await api.core.listNamespacedPod({ namespace, labelSelector: selector })
  listed(items)
  return metadata?.resourceVersion ?? ''
}

/**
 * Tells when it has begun, and resolves with where the next watch goes on; undefined where this cursor is too old. Rejects
 * when the API is away.
 */
async function watch(
  options: PodWatchOptions,
  from: string,
  { there, signal }: { there: () => void; signal: AbortSignal },
): Promise<Cursor> {
  const { api, namespace, selector } = options
  let cursor: Cursor = from
  let failure: Error | undefined
  let hasBegun = false
  const query = {
    labelSelector: selector,
    resourceVersion: from,
    allowWatchBookmarks: true,
    timeoutSeconds: watchSeconds,
  }
  const ended = Promise.withResolvers<void>()
  const event = (type: string, object: V1Pod & { code?: number }) => {
    if (type === 'ERROR') {
      cursor = undefined
      if (object.code !== 410) failure = Object.assign(new Error('The watch of pods failed'), { code: object.code })
      return
    }
    if (type === 'DELETED') options.gone(object)
    else if (type !== 'BOOKMARK') options.changed(object)
    if (cursor !== undefined) cursor = object.metadata?.resourceVersion ?? cursor
  }
  const controller = await api.watch.watch(`/api/v1/namespaces/${namespace}/pods`, query, event, (error: unknown) => {
    // An idle one is ended by the client, and goes on where it was.
    if (error instanceof Error && !(hasBegun && isIdle(error))) failure ??= error
    ended.resolve()
  })
  hasBegun = failure === undefined
  if (hasBegun) there()
  const abort = () => controller.abort()
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  await ended.promise
  signal.removeEventListener('abort', abort)
  if (failure !== undefined && statusOf(failure) === 410) return undefined
  if (failure !== undefined && !isBroken(failure)) throw failure
  return cursor
}

function isIdle(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError'
}

/** A stream that was cut: the next watch tells whether the API is there. */
function isBroken(error: unknown): boolean {
  return error instanceof TypeError && error.message === 'terminated'
}
