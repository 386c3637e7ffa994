import type { Registry } from '@automation/service'
import { until } from '@automation/testing'

/** Resolves when no child of the runner with these metrics is busy, not even with looking at itself. */
export async function settled(metrics: Registry): Promise<void> {
  const isBusy = async () => {
    const { values } = await metrics.getSingleMetric('runner_children')!.get()
    return values.some(({ labels, value }) => value > 0 && !['idle', 'spare'].includes(String(labels['state'])))
  }
  await until(async () => !(await isBusy()), { what: 'no child is busy' })
}
