import type { PlanItem } from './plan.ts'
import { isToDo, phases } from './plan.ts'
import { inParallel } from './in-parallel.ts'

/** What became of a plan. */
export interface Applied {
  done: PlanItem[]
  failed: { item: PlanItem; error: unknown }[]
  /** What was not begun. */
  left: PlanItem[]
}

/** Does what a plan says, phase by phase, 8 items at a time. After a failure it finishes what is under way and stops. */
export async function applyPlan(
  items: readonly PlanItem[],
  apply: (item: PlanItem) => Promise<void>,
): Promise<Applied> {
  const toDo = items.filter(isToDo)
  const done: PlanItem[] = []
  const failed: Applied['failed'] = []
  for (const { action, kind } of phases) {
    if (failed.length > 0) break
    const ofPhase = toDo.filter((item) => item.kind === kind && (item.action === 'delete') === (action === 'delete'))
    await inParallel(8, ofPhase, async (item) => {
      // Whoever has seen a failure begins nothing new.
      if (failed.length > 0) return
      try {
        await apply(item)
        done.push(item)
      } catch (error) {
        failed.push({ item, error })
      }
    })
  }
  const begun = new Set([...done, ...failed.map(({ item }) => item)])
  return { done, failed, left: toDo.filter((item) => !begun.has(item)) }
}
