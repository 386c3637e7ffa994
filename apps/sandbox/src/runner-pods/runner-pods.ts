import { RunnerDemandService } from '@automation/contract/runner/v1/demand'
import type { PartContext } from '@automation/service'
import { openCluster, type ClusterApi } from '../cluster/api.ts'
import { Pods } from '../cluster/pods.ts'
import { podLabels } from '../cluster/restricted.ts'
import { Leadership } from '../store/leadership.ts'
import type { Store } from '../store/store.ts'
import type { RunnerPodsConfig } from './config.ts'
import { poolMetrics } from './metrics.ts'
import { RunnerPool } from './pool.ts'

/** The runner pods of an installation, on the cluster that this process finds. Starts nothing. */
export async function openRunnerPods(
  config: RunnerPodsConfig,
  store: Store,
  { neighbours, logger, metrics }: PartContext,
  api?: ClusterApi,
): Promise<RunnerPool> {
  const cluster = api ?? (await openCluster())
  const { namespace = cluster.namespace ?? 'default', instance, owner } = config
  const labels = podLabels('runner-pod', instance)
  return new RunnerPool({
    config,
    pods: new Pods({ api: cluster, namespace, owner, labels, logger }),
    demand: neighbours.client(RunnerDemandService),
    leadership: new Leadership(store, `runner pods of ${namespace}/${instance}`),
    metrics: poolMetrics(metrics),
    logger,
  })
}
