import { randomBytes } from 'node:crypto'
import type { Process } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { must } from './commands.ts'
import type { Release } from './release.ts'

interface Endpoint {
  port: string
  path: string
}
interface Listed {
  items: {
    metadata: { name: string; labels?: Record<string, string> }
    spec: {
      selector?: { matchLabels: Record<string, string> }
      endpoints?: Endpoint[]
      ports?: { name: string; port: number }[]
    }
    data?: Record<string, string>
  }[]
}

/** What a Prometheus, a Grafana and a collector would find. Throws where they would find less than was promised. */
export async function monitoring(release: Release): Promise<string> {
  const scraped = await scrapedBy(release)
  const rules = await list(release, 'prometheusrules')
  const dashboards = await list(release, 'configmaps', ['-l', 'grafana_dashboard=1'])
  if (rules.items.length !== 1 || dashboards.items.length !== 1) throw new Error('rules or a dashboard are missing')
  const panels = Object.values(dashboards.items[0]?.data ?? {}).map(
    (text) => (JSON.parse(text) as { panels: [] }).panels,
  )
  const services = await servicesOfARun(release)
  return `${scraped.join(', ')} told their metrics, ${panels.flat().length} panels, one trace had ${services.join(', ')}`
}

/** The services whose metrics a pod of somebody else reads as the ServiceMonitor says. */
async function scrapedBy(release: Release): Promise<string[]> {
  const [monitor] = (await list(release, 'servicemonitors')).items
  const labels = Object.entries(monitor?.spec.selector?.matchLabels ?? {}).map(([name, value]) => `${name}=${value}`)
  const { items } = await list(release, 'services', ['-l', labels.join(',')])
  const scraped = new Array<string>()
  for (const { metadata, spec } of items)
    for (const endpoint of monitor?.spec.endpoints ?? []) {
      const port = spec.ports?.find((one) => one.name === endpoint.port)?.port
      if (port === undefined) continue
      const address = `http://${metadata.name}.${release.namespace}.svc.cluster.local:${port}${endpoint.path}`
      const ask = `fetch('${address}').then((answer) => answer.text()).then(console.log)`
      const text = await release.listeners.run(['node', '-e', ask])
      if (!text.includes('process_cpu_seconds_total'))
        throw new Error(`${address} tells no metrics: ${text.slice(0, 200)}`)
      scraped.push(metadata.labels?.['app.kubernetes.io/component'] ?? metadata.name)
    }
  const expected = ['gateway', 'process-catalog', 'execution', 'scheduler', 'sandbox']
  const missing = expected.filter((name) => !scraped.includes(name))
  if (missing.length > 0) throw new Error(`the ServiceMonitor does not find ${missing.join(', ')}`)
  return scraped
}

/** The services that tell of one call, once all have that it goes through. */
async function servicesOfARun(release: Release): Promise<string[]> {
  const client = await release.client()
  const made = await client.post<Process>('/processes', {
    name: 'traced',
    sourceCode: 'return process.env.TRACEPARENT',
  })
  const traceId = randomBytes(16).toString('hex')
  const traceparent = `00-${traceId}-${randomBytes(8).toString('hex')}-01`
  const answer = await client.post(`/processes/${made.body.id}/execute-sync`, {}, { headers: { traceparent } })
  if (!String(answer.body).startsWith(`00-${traceId}-`)) throw new Error(`the run saw ${answer.text}`)
  const expected = ['gateway', 'process-catalog', 'execution']
  let found = new Array<string>()
  await waitUntil(
    'the trace of a run',
    async () => {
      found = await release.traces.servicesOf(traceId)
      return expected.every((name) => found.some((one) => one.endsWith(name)))
    },
    { timeoutMs: 30_000, everyMs: 500 },
  )
  return found
}

async function list(release: Release, kind: string, selector: string[] = []): Promise<Listed> {
  return JSON.parse(
    await must('kubectl', ['get', kind, '--namespace', release.namespace, ...selector, '-o', 'json']),
  ) as Listed
}
