/** Repeats the steps of a removal until it is done; gives how many rows each has removed. */
export async function removalSteps(step: () => Promise<{ removed: number; done: boolean }>): Promise<number[]> {
  const removed: number[] = []
  for (let isDone = false; !isDone;) {
    const made = await step()
    removed.push(made.removed)
    isDone = made.done
  }
  return removed
}
