import type { V1OwnerReference } from '@kubernetes/client-node'
import { answered, type ClusterApi } from './api.ts'

/** The ConfigMap that pods belong to: when it goes, the cluster ends them. Asked for once it is needed, and then known. */
export class Owner {
  readonly #api: ClusterApi
  readonly #namespace: string
  readonly #name: string
  #found: V1OwnerReference | undefined

  constructor(api: ClusterApi, namespace: string, name: string) {
    this.#api = api
    this.#namespace = namespace
    this.#name = name
  }

  /** Rejects when there is none, or the API is away. */
  async reference(): Promise<V1OwnerReference> {
    if (this.#found !== undefined) return this.#found
    const asked = { namespace: this.#namespace, name: this.#name }
    const { metadata } = await answered(this.#api.core.readNamespacedConfigMap(asked))
    return (this.#found = { apiVersion: 'v1', kind: 'ConfigMap', name: this.#name, uid: metadata?.uid ?? '' })
  }
}
