import type { V1PodSpec, V1SecurityContext } from '@kubernetes/client-node'
import type { ClusterConfig } from './config.ts'

/** The labels that all pods of a kind have in an installation, by which they are found. */
export function podLabels(component: 'sandbox-pod' | 'runner-pod', instance: string): Record<string, string> {
  return {
    'app.kubernetes.io/part-of': 'process-automation',
    'app.kubernetes.io/instance': instance,
    'app.kubernetes.io/component': component,
  }
}

/**
 * What pods with user code have in common: they fit the level `restricted` of the Pod Security Standards, may do nothing
 * in the cluster, and learn nothing of its services.
 */
export function restrictedPod({ fixedIds, runAsUser }: Pick<ClusterConfig, 'fixedIds' | 'runAsUser'>) {
  return {
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: {
      runAsNonRoot: true,
      ...(fixedIds && { runAsUser, runAsGroup: runAsUser, fsGroup: runAsUser }),
      seccompProfile: { type: 'RuntimeDefault' },
    },
  } satisfies Partial<V1PodSpec>
}

/** Of each of their containers. */
export const restrictedContainer: V1SecurityContext = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
}
