/** What `work` gives, or the reason of the signal once that is aborted; then nobody waits for `work` any more. */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason as Error)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Waits that long, or until the signal is aborted. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  const abort = () => resolve()
  signal?.addEventListener('abort', abort, { once: true })
  await promise
  signal?.removeEventListener('abort', abort)
  clearTimeout(timer)
}

/** What `work` gives, or what `late` gives once it has taken longer than `ms`: then it goes on. */
export async function within<T, Late = undefined>(ms: number, work: Promise<T>, late?: () => Late): Promise<T | Late> {
  const over = Promise.withResolvers<Late>()
  const timer = setTimeout(() => over.resolve(late?.() as Late), ms)
  try {
    return await Promise.race([work, over.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Waits for the end of `work`, whatever it is, but not longer than `ms`. */
export async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  await within(
    ms,
    work.catch(() => undefined),
  )
}
