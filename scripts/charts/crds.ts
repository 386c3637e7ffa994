import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

interface Schema {
  type?: string
  [keyword: string]: unknown
}

const text = { type: 'string', minLength: 1 }
const number = { type: 'integer' }
const duration = { type: 'string', pattern: '^([0-9]+(ms|[smhdwy]))+$' }
const texts = { type: 'object', additionalProperties: { type: 'string' } }
const list = (items: Schema) => ({ type: 'array', items })

/** An object with these members and no others; those whose names end in `!` must be there. */
function object(members: Record<string, Schema>): Schema {
  const named = Object.entries(members).map(([name, schema]) => [name.replace('!', ''), schema])
  const required = Object.keys(members).flatMap((name) => (name.endsWith('!') ? [name.slice(0, -1)] : []))
  const properties = Object.fromEntries(named) as object
  return { type: 'object', additionalProperties: false, properties, ...(required.length > 0 && { required }) }
}

const parent = object({ group: text, kind: text, namespace: text, 'name!': text, sectionName: text, port: number })
const backend = object({ 'name!': text, 'port!': number })
const header = object({ 'name!': text, 'value!': text })
const filter = object({
  'type!': { const: 'ResponseHeaderModifier' },
  responseHeaderModifier: object({ set: list(header) }),
})
const match = object({ path: object({ type: { enum: ['Exact', 'PathPrefix', 'RegularExpression'] }, value: text }) })
const routeOf = (rule: Schema) =>
  object({
    parentRefs: { ...list(parent), maxItems: 32 },
    hostnames: { ...list(text), maxItems: 16 },
    rules: list(rule),
  })
const rule = object({
  'expr!': text,
  record: { type: 'string', pattern: '^[a-zA-Z_:][a-zA-Z0-9_:]*$' },
  alert: text,
  for: duration,
  labels: texts,
  annotations: texts,
})

/** What the chart uses of the kinds of others, as their documents have it (Gateway API 1.2, Prometheus operator 0.79, KEDA 2.16). */
const specs: Record<string, Schema> = {
  HTTPRoute: routeOf(object({ matches: list(match), filters: list(filter), 'backendRefs!': list(backend) })),
  GRPCRoute: routeOf(object({ 'backendRefs!': list(backend) })),
  ServiceMonitor: object({
    'selector!': object({ 'matchLabels!': texts }),
    'endpoints!': list(object({ 'port!': text, path: text, interval: duration, honorLabels: { type: 'boolean' } })),
  }),
  PrometheusRule: object({ 'groups!': list(object({ 'name!': text, 'rules!': list(rule) })) }),
  ScaledObject: object({
    'scaleTargetRef!': object({ 'name!': text }),
    minReplicaCount: number,
    maxReplicaCount: number,
    'triggers!': list(object({ 'type!': text, 'metadata!': texts })),
  }),
}

export const kindsOfOthers = Object.keys(specs)

/** Writes schemas of these kinds and gives their place as kubeconform takes it. */
export async function schemasOfOthers(): Promise<string> {
  const folder = resolve(import.meta.dirname, '../../.cache/crds')
  await mkdir(folder, { recursive: true })
  for (const [kind, spec] of Object.entries(specs)) {
    const schema = object({ 'apiVersion!': text, 'kind!': text, 'metadata!': { type: 'object' }, 'spec!': spec })
    await writeFile(join(folder, `${kind.toLowerCase()}.json`), JSON.stringify(schema))
  }
  return join(folder, '{{.ResourceKind}}.json')
}
