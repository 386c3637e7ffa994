import type { Manifest } from './render.ts'

export interface Container {
  name: string
  image: string
  args?: string[]
  securityContext: Record<string, unknown>
  resources: { limits: Record<string, string>; requests: Record<string, string> }
  env: { name: string; value?: string }[]
}

/** Which keys of a Secret a pod has as files. */
export interface SecretItems {
  name: string
  items: { key: string; path: string }[]
}

export interface PodSpec {
  automountServiceAccountToken: boolean
  securityContext: Record<string, unknown>
  containers: Container[]
  volumes: {
    name: string
    secret?: { secretName: string; items: SecretItems['items'] }
    projected?: { sources: { secret: SecretItems }[] }
  }[]
  terminationGracePeriodSeconds: number
}

/** The pod of an object that has or makes one. */
export function podOf(manifest: Manifest): PodSpec[] {
  const spec = manifest['spec'] as (PodSpec & { template?: { spec: PodSpec } }) | undefined
  if (manifest.kind === 'Pod') return [spec!]
  return spec?.template === undefined ? [] : [spec.template.spec]
}

/** What a pod has of Secrets. */
export function secretsOf({ volumes }: PodSpec): SecretItems[] {
  return volumes.flatMap(({ secret, projected }) => [
    ...(secret === undefined ? [] : [{ name: secret.secretName, items: secret.items }]),
    ...(projected?.sources.map((source) => source.secret) ?? []),
  ])
}

export function component(manifest: Manifest): string | undefined {
  return manifest.metadata.labels?.['app.kubernetes.io/component']
}
