import { readFileSync } from 'node:fs'
import type { CoreV1Api, KubeConfig, RequestContext, ResponseContext, V1Pod, Watch } from '@kubernetes/client-node'
import { Failure } from '@automation/errors'

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
const askAgainS = 5

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
  // Other errors have small numbers of their own.
  return typeof status === 'number' && status >= 100 ? status : undefined
}

/** That the API is away or takes nothing for the moment. */
export function clusterAway(cause?: unknown): Failure {
  const words = 'The API of the cluster does not answer for the moment, try again'
  return new Failure('unavailable', 'cluster_away', words, { cause, retryAfterS: askAgainS })
}

/** Whether a failure says that the cluster's API did not answer. */
export function isClusterAway(error: unknown): boolean {
  return error instanceof Failure && error.code === 'cluster_away'
}

/** What the API answers. Failure cluster_away where it does not, or only that it can't now; whether it took effect is not known. */
export async function answered<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    throw isPassing(error) ? clusterAway(error) : error
  }
}

function isPassing(error: unknown): boolean {
  const status = statusOf(error)
  if (status !== undefined) return status === 429 || status >= 500
  if (error instanceof DOMException) return error.name === 'TimeoutError'
  // Of fetch: not reached, or cut off within the answer.
  return error instanceof TypeError && (error.message === 'fetch failed' || error.message === 'terminated')
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
