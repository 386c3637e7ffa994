/**
 * Works on items, so many at a time, and gives the results in their order. After a failure nothing new is begun; what is under
 * way comes to its end before the first failure is thrown.
 */
export async function inParallel<T, R>(
  count: number,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  const failures: unknown[] = []
  let next = 0
  const worker = async () => {
    while (next < items.length && failures.length === 0) {
      const index = next
      next += 1
      try {
        results[index] = await work(items[index]!)
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(count, items.length) }, worker))
  if (failures.length > 0) throw failures[0]
  return results
}
