import { readFileSync } from 'node:fs'
import type { CoreV1Api, KubeConfig, RequestContext, ResponseContext, V1Pod, Watch } from '@kubernetes/client-node'

/** A cluster's API, as this process may use it. */
export interface ClusterApi {
  core: CoreV1Api
  watch: Watch
  /** Of the context that was found: the namespace it names, where it names one. */
  namespace: string | undefined
  /** A change that is merged into a pod: its answer is the pod. */
  mergePod(name: string, namespace: string, patch: object): Promise<V1Pod>
}

const accountNamespace = '/var/run/secrets/kubernetes.io/serviceaccount/namespace'
// A request that nobody answers ends so.
const requestMs = 15_000

/** By KUBECONFIG outside of a cluster, by the service account inside. The client is loaded by the first call. */
export async function openCluster(): Promise<ClusterApi> {
  const client = await import('@kubernetes/client-node')
  const config = new client.KubeConfig()
  config.loadFromDefault()
  const configuration = client.createConfiguration({
    baseServer: new client.ServerConfiguration(config.getCurrentCluster()?.server ?? '', {}),
    authMethods: { default: config },
    promiseMiddleware: [bounded],
  })
  const core = new client.CoreV1Api(configuration)
  const merging = client.setHeaderOptions('Content-Type', client.PatchStrategy.MergePatch)
  return {
    core,
    watch: new client.Watch(config),
    namespace: namespaceOf(config),
    mergePod: (name, namespace, body) => core.patchNamespacedPod({ name, namespace, body }, merging),
  }
}

/** Gives each request an end. */
const bounded = {
  async pre(context: RequestContext): Promise<RequestContext> {
    context.setSignal(AbortSignal.timeout(requestMs))
    return context
  },
  async post(context: ResponseContext): Promise<ResponseContext> {
    return context
  },
}

/** The HTTP status of a refusal of the API; undefined for other errors. */
export function statusOf(error: unknown): number | undefined {
  const { code, statusCode } = (error ?? {}) as { code?: unknown; statusCode?: unknown }
  const status = typeof code === 'number' ? code : statusCode
  return typeof status === 'number' ? status : undefined
}

function namespaceOf(config: KubeConfig): string | undefined {
  const named = config.getContextObject(config.getCurrentContext())?.namespace
  if (named !== undefined) return named
  try {
    return readFileSync(accountNamespace, 'utf8').trim()
  } catch {
    // Not inside of a cluster.
    return undefined
  }
}
