import { inParallel } from './project/in-parallel.ts'
import { ExitError, exitCodes, type Runtime } from './runtime.ts'

/** What a command does to each of several things. */
interface Each<T> {
  nameOf(item: T): string
  /** False where there was nothing to do. */
  work(item: T): Promise<unknown>
  /** With `--json`, what became of a thing. */
  rowOf(item: T, isDone: boolean): object
  /** Says of those that it was done to that it was. */
  wordsOf(names: readonly string[]): string
}

/**
 * Does the same to each of several things, whatever becomes of the others, and tells what was done. Throws with the faults of
 * those that failed; where all failed alike, such as without a token, with that failure.
 */
export async function doEach<T>(
  { out }: Runtime,
  items: readonly T[],
  { nameOf, work, rowOf, wordsOf }: Each<T>,
): Promise<void> {
  const ended = await inParallel(8, items, (item) =>
    work(item).then(
      (result) => ({ item, isDone: result !== false, failure: undefined }),
      (failure: Error) => ({ item, isDone: false, failure }),
    ),
  )
  const [first] = ended
  if (first?.failure && ended.every(({ failure }) => failure?.message === first.failure.message)) throw first.failure
  const done = ended.filter(({ isDone }) => isDone).map(({ item }) => nameOf(item))
  if (out.json) out.data(ended.map(({ item, isDone }) => rowOf(item, isDone)))
  else if (done.length > 0) out.say(wordsOf(done))
  const errors = ended.flatMap(({ item, failure }) =>
    failure === undefined ? [] : [{ path: nameOf(item), message: failure.message }],
  )
  if (errors.length === 0) return
  throw new ExitError(exitCodes.refused, errors.map(({ path, message }) => `${path}: ${message}`).join('\n'), {
    errors,
  })
}
