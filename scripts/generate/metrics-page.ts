import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { alertTexts, metricGroups } from './metric-texts.ts'

/** `docs/reference/metrics.md`. Throws where the texts and the metrics of the code, or the alerts, are not the same. */
export async function metricsPage(root: string, generatedBy: (source: string) => string): Promise<string> {
  const [kinds, alerts] = await Promise.all([metricKinds(root), alertRules(root)])
  const rows = metricGroups.flatMap(({ title, metrics }) => [
    `| **${title}** | | | |`,
    ...metrics.map(({ names, labels = [], text }) => {
      const found = [...new Set(names.map((name) => kindOf(kinds, name)))]
      return `| ${quoted(names)} | ${quoted(labels)} | ${found.join(', ')} | ${text} |`.replace('|  |', '| |')
    }),
  ])
  const alertRows = alerts.map(
    ({ alert, labels }) =>
      `| [\`${alert}\`](../guides/operating/runbooks.md#${alert.toLowerCase()}) | ${alertTexts[alert]} | ${labels.severity} |`,
  )
  return `# Metrics

${generatedBy('the metrics of the code, `scripts/generate/metric-texts.ts` and the rules of the alerts')}

Every service reports its own metrics at \`/metrics\` of its health port, in the form of Prometheus. Beside them stand those of its process, \`process_…\` and \`nodejs_…\`: \`nodejs_eventloop_lag_p99_seconds\` says by how much the process is late with what is due. With \`npm start\` one address reports all. A counter or histogram is that of one replica. A gauge that is marked "all" is the same at every replica and counts the whole system: take the maximum, not the sum. What execution of a further [cell](../guides/operating/cells.md) reports has the label \`cell\`, and counts that cell.

| metric | labels | kind | what it says |
|---|---|---|---|
${rows.join('\n')}

Metrics are reported while databases and brokers are away, too: what is counted there has then the value of the last time that it could be counted, otherwise that of some seconds ago. Metrics hold no secrets and ask for no sign-in, so keep the health ports from outside. How to collect them: [health, metrics and alerts](../guides/operating/monitoring.md).

## Alerts
They are in \`charts/process-automation/observability/rules.yaml\`; each leads to its [runbook](../guides/operating/runbooks.md): what it means, what to look at, what to do.

| alert | when | severity |
|---|---|---|
${alertRows.join('\n')}

A critical alert says that users do not get what they were promised, or soon will not. The limits suit a system of common size: change a copy of the file where yours differ.
`
}

const quoted = (names: string[]) => names.map((name) => `\`${name}\``).join(', ')

/**
 * Names of metrics begin with a part of the system. What stands before one: a property of its options, or a call of what
 * makes several alike.
 */
const isOurs = /^(?:grpc|database|gateway|catalog|audit|execution|runner|storage|scheduler|sandbox|\$\{service\})_/
const isMade = /(?:\bname: |\b(?:gauge|labelled|show)\(\s*)$/

/** Of each metric that the code makes its kind; names that begin with the service's are there as `*` and the rest. */
async function metricKinds(root: string): Promise<Map<string, string>> {
  const kinds = new Map<string, string>()
  const files = await Array.fromAsync(glob('{apps,libs}/*/src/**/*.ts', { cwd: root }))
  const texts = await Promise.all(files.map((path) => readFile(join(root, path), 'utf8')))
  for (const text of texts.filter((each) => each.includes("from 'prom-client'")))
    for (const { index, 1: name = '' } of text.matchAll(/['`]((?:[a-z]+|\$\{service\})(?:_[a-z0-9]+)+)['`]/g)) {
      if (!isOurs.test(name) || !isMade.test(text.slice(0, index))) continue
      const [, kind = 'Gauge'] = /new (Counter|Histogram)(?:<.*>)?\(\{\s*name: $/.exec(text.slice(0, index)) ?? []
      kinds.set(name.replace('${service}', '*'), kind.toLowerCase())
    }
  const documented = new Set(metricGroups.flatMap(({ metrics }) => metrics.flatMap(({ names }) => names)))
  const isDocumented = (name: string) =>
    name.startsWith('*') ? [...documented].some((each) => each.endsWith(name.slice(1))) : documented.has(name)
  refuse(
    'metric-texts.ts',
    [...kinds.keys()].filter((name) => !isDocumented(name)),
    [...documented].filter((name) => kindOf(kinds, name) === undefined),
  )
  return kinds
}

function kindOf(kinds: Map<string, string>, name: string): string | undefined {
  return kinds.get(name) ?? kinds.get(name.replace(/^[a-z]+/, '*'))
}

interface AlertRule {
  alert: string
  labels: { severity: string }
}

async function alertRules(root: string): Promise<AlertRule[]> {
  const text = await readFile(join(root, 'charts/process-automation/observability/rules.yaml'), 'utf8')
  const rules = (parse(text) as { groups: { rules: AlertRule[] }[] }).groups.flatMap((group) =>
    group.rules.filter(({ alert }) => alert),
  )
  const names = rules.map(({ alert }) => alert)
  refuse(
    'metric-texts.ts',
    names.filter((name) => alertTexts[name] === undefined),
    Object.keys(alertTexts).filter((name) => !names.includes(name)),
  )
  return rules
}

function refuse(file: string, missing: string[], leftOver: string[]): void {
  const faults = [
    ...missing.map((name) => `${name} has no text`),
    ...leftOver.map((name) => `${name} has a text, but is nowhere`),
  ]
  if (faults.length > 0) throw new Error(`scripts/generate/${file}:\n${faults.join('\n')}`)
}
