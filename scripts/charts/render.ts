import { execFile, spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'

const run = promisify(execFile)

export const chart = resolve(import.meta.dirname, '../../charts/process-automation')

/** Files of values that must render, from the root of the chart. */
export const valuesFiles = readdirSync(join(chart, 'ci')).map((name) => join(chart, 'ci', name))

/** Nothing but what must be given; and nearly all that can be. */
export const minimal = join(chart, 'ci/minimal-values.yaml')
export const full = join(chart, 'ci/full-values.yaml')

/** An object of the cluster, as far as it is looked at here. */
export interface Manifest {
  kind: string
  metadata: { name: string; namespace?: string; labels?: Record<string, string>; annotations?: Record<string, string> }
  [field: string]: unknown
}

/** Whether a program can be started here. */
export function isThere(program: string): boolean {
  return spawnSync(program, ['version'], { stdio: 'ignore' }).error === undefined
}

/** What the chart makes of a file of values, and of single ones (`a.b=c`). Throws with the words of helm where it refuses. */
export async function render(values: string, sets: string[] = [], helm = 'helm'): Promise<Manifest[]> {
  const text = await renderText(values, sets, helm)
  return parseAllDocuments(text).flatMap((document) => (document.toJS() as Manifest | null) ?? [])
}

/** The same as YAML; `options` are further ones of helm. */
export async function renderText(
  values: string,
  sets: string[] = [],
  helm = 'helm',
  options: string[] = [],
): Promise<string> {
  const given = sets.flatMap((pair) => ['--set', pair])
  const where = ['template', 'release', chart, '--namespace', 'automation', '--values', values]
  // It ends before memory is short: collecting that is a quarter of its work.
  const env = { ...process.env, GOGC: 'off' }
  return (await run(helm, [...where, ...given, ...options], { maxBuffer: 64 * 1024 * 1024, env })).stdout
}

/** What helm says to who installs the chart; it asks no cluster for this. */
export async function notes(values: string, sets: string[] = []): Promise<string> {
  const given = sets.flatMap((pair) => ['--set', pair])
  const install = ['install', 'release', chart, '--dry-run=client', '--values', values, ...given]
  const { stdout } = await run('helm', install, { env: { ...process.env, KUBECONFIG: '/dev/null' } })
  return stdout.slice(stdout.indexOf('\nNOTES:'))
}

export interface Container {
  name: string
  image: string
  args?: string[]
  securityContext: Record<string, unknown>
  resources: { limits: Record<string, string>; requests: Record<string, string> }
  env: { name: string; value?: string }[]
  volumeMounts?: { name: string; mountPath: string }[]
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
    /** Without items all keys are files. */
    secret?: { secretName: string; items?: SecretItems['items'] }
    projected?: { sources: { secret?: SecretItems }[] }
  }[]
  terminationGracePeriodSeconds: number
}

/** The pod of an object that has or makes one. */
export function podOf(manifest: Manifest): PodSpec[] {
  const spec = manifest['spec'] as (PodSpec & { template?: { spec: PodSpec } }) | undefined
  if (manifest.kind === 'Pod') return [spec!]
  return spec?.template === undefined ? [] : [spec.template.spec]
}

/** What a pod has of Secrets by single keys. */
export function secretsOf({ volumes }: PodSpec): SecretItems[] {
  return volumes.flatMap(({ secret, projected }) => [
    ...(secret?.items === undefined ? [] : [{ name: secret.secretName, items: secret.items }]),
    ...(projected?.sources.flatMap((source) => source.secret ?? []) ?? []),
  ])
}

/** The Secrets that a pod has as whole folders. */
export function foldersOf({ volumes, containers }: PodSpec): { name: string; path: string }[] {
  const mounts = containers.flatMap(({ volumeMounts = [] }) => volumeMounts)
  return volumes.flatMap(({ name, secret }) =>
    secret === undefined || secret.items !== undefined
      ? []
      : mounts
          .filter((each) => each.name === name)
          .map(({ mountPath }) => ({ name: secret.secretName, path: mountPath })),
  )
}

/** What the sandbox service makes pods by. */
export function podSettings(manifests: Manifest[]): object {
  const secret = manifests.find(({ kind, metadata }) => kind === 'Secret' && metadata.name.endsWith('-pod-settings'))
  return JSON.parse((secret!['stringData'] as Record<string, string>)['pods.json']!) as object
}

/** Whether a selector of the cluster takes something with these labels. */
export function selects(selector: Selector, labels: Record<string, string>): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector
  const fits = ({ key, operator, values }: Expression) =>
    operator === (values.includes(labels[key] ?? '') ? 'In' : 'NotIn')
  return Object.entries(matchLabels).every(([key, value]) => labels[key] === value) && matchExpressions.every(fits)
}

interface Selector {
  matchLabels?: Record<string, string>
  matchExpressions?: Expression[]
}

interface Expression {
  key: string
  operator: string
  values: string[]
}

export function component(manifest: Manifest): string | undefined {
  return manifest.metadata.labels?.['app.kubernetes.io/component']
}
