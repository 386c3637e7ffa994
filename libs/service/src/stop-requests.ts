/** A Ctrl-C in a terminal arrives twice, from the group and from npm; what follows sooner than this is that echo. */
const echoMs = 1000

const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/**
 * Tells of requests to stop: `first` once, `second` at the first one that comes a second or more after that.
 * Returns how to stop listening.
 */
export function onStopRequests(first: (signal: string) => void, second: (signal: string) => void): () => void {
  let firstMs: number | undefined
  const listen = (signal: NodeJS.Signals) => {
    const now = performance.now()
    if (firstMs === undefined) {
      firstMs = now
      first(signal)
    } else if (now - firstMs >= echoMs) second(signal)
  }
  for (const signal of signals) process.on(signal, listen)
  return () => {
    for (const signal of signals) process.off(signal, listen)
  }
}
