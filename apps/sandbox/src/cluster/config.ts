import type { Environment } from '@automation/service'

/** Where in a cluster pods are made, and whose they are. */
export interface ClusterConfig {
  /** Undefined: that of the service's own account, or of KUBECONFIG. */
  namespace: string | undefined
  /** The installation that pods belong to, by their label. */
  instance: string
  /** The ConfigMap that pods belong to and go with; absent: they go one by one. */
  owner?: string
}

/** Reads where pods are made; faults are noted in `env`. */
export function readClusterConfig(env: Environment): ClusterConfig {
  const namespace = env.text('KUBERNETES_NAMESPACE')
  const instance = env.text('KUBERNETES_INSTANCE', 'process-automation')
  if (namespace !== undefined && !isDnsLabel(namespace, 63))
    env.fault('KUBERNETES_NAMESPACE', 'must be the name of a namespace')
  // What Helm allows as the name of a release.
  if (!isDnsLabel(instance, 53)) env.fault('KUBERNETES_INSTANCE', 'must be 1 to 53 of a-z, 0-9 and inner hyphens')
  return { namespace, instance, owner: env.text('KUBERNETES_OWNER') }
}

function isDnsLabel(text: string, maxChars: number): boolean {
  return text.length <= maxChars && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(text)
}
