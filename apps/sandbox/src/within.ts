/** What the work gives, or undefined after so long. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(resolve, ms, undefined)
  const done = await Promise.race([work, late])
  clearTimeout(timer)
  return done
}
