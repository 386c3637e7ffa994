import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { parser } from '@prometheus-io/lezer-promql'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { component, chart, full, isThere, minimal, render, renderText, type Manifest } from '../charts/render.ts'

interface Alert {
  alert: string
  expr: string
  for: string
  labels: { severity: string }
  annotations: { summary: string; description: string; runbook_url: string }
}
interface Share {
  record: string
  expr: string
}
interface Dashboard {
  panels: { title: string; type: string; targets?: { expr: string }[] }[]
}

const trialsFile = resolve(import.meta.dirname, '../charts/alerts.yaml')
const read = (path: string) => readFileSync(join(chart, path), 'utf8')
const rulesText = read('observability/rules.yaml')
const rules = (parse(rulesText) as { groups: { rules: (Alert | Share)[] }[] }).groups.flatMap((group) => group.rules)
const alerts = rules.filter((rule) => 'alert' in rule)
const shares = rules.filter((rule) => 'record' in rule)
const dashboard = JSON.parse(read('observability/dashboard.json')) as Dashboard
const docs = readFileSync(resolve(chart, '../../docs/reference/metrics.md'), 'utf8')
const runbooksPath = 'docs/guides/operating/runbooks.md'
const runbooks = readFileSync(resolve(chart, '../..', runbooksPath), 'utf8')
const ofRunbooks = [...runbooks.matchAll(/```promql\n(.*?)```/gs)].map(([, expr = '']) => expr.trim())

/** What Grafana puts in by itself. */
const filledIn = (expr: string) => expr.replaceAll('$__rate_interval', '5m')
const ofPanels = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => filledIn(expr)))
const expressions = [...rules.map(({ expr }) => expr), ...ofPanels, ...ofRunbooks]

/** The pieces of an expression by the names of the grammar. */
function piecesOf(expr: string): { kind: string; text: string }[] {
  const pieces: { kind: string; text: string }[] = []
  parser.parse(expr).iterate({
    enter: ({ type, from, to }) =>
      void pieces.push({ kind: type.isError ? 'fault' : type.name, text: expr.slice(from, to) }),
  })
  return pieces
}

/** What of an expression asks for series. */
const selectorsOf = (expr: string) =>
  piecesOf(expr).flatMap(({ kind, text }) => (kind === 'VectorSelector' ? [text] : []))

const groupsOf = (rules: Manifest) => (rules['spec'] as { groups: { rules: { expr: string }[] }[] }).groups

/** The names that docs/reference/metrics.md documents, by row, with the labels of the row. */
const documented = new Map(
  docs.split('\n').flatMap((line) => {
    const [, names = '', labels = ''] = line.split('|')
    const quoted = (cell: string) => [...cell.matchAll(/`(\w+)`/g)].map(([, word = '']) => word)
    return quoted(names).map((name): [string, string[]] => [name, quoted(labels)])
  }),
)
// Of the process, as every program in this language tells them.
const ofProcesses = ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'nodejs_eventloop_lag_p99_seconds']
const byPrometheus = ['namespace', 'job', 'instance', 'le']
/** What the page says of all metrics of execution. */
const ofCells = ['cell']

const recorded = new Set(shares.map(({ record }) => record))
const isDocumented = (name: string) =>
  documented.has(name) || documented.has(name.replace(/_(bucket|count|sum)$/, '')) || recorded.has(name)

describe('alerts and dashboard', () => {
  test('hold expressions that Prometheus understands', () => {
    const isFaulty = (expr: string) => piecesOf(expr).some(({ kind }) => kind === 'fault')
    expect(expressions.length).toBeGreaterThan(alerts.length)
    expect(expressions.filter(isFaulty)).toEqual([])
    const faulty = ['sum by (a (b)', 'rate(a[5m]', 'a{b=}', '']
    expect(faulty.filter(isFaulty)).toEqual(faulty)
  })

  test('speak of metrics and labels that docs/reference/metrics.md documents', () => {
    for (const expr of expressions) {
      const texts = (wanted: string) => piecesOf(expr).flatMap(({ kind, text }) => (kind === wanted ? [text] : []))
      const names = texts('Identifier')
      expect(names.length, expr).toBeGreaterThan(0)
      expect(
        names.filter((name) => !isDocumented(name) && !ofProcesses.includes(name)),
        expr,
      ).toEqual([])
      const known = new Set([...names.flatMap((name) => labelsOf(name)), ...byPrometheus, ...ofCells])
      expect(
        texts('LabelName').filter((label) => !known.has(label)),
        expr,
      ).toEqual([])
    }
  })

  test('each alert says what is wrong and what to do, how bad it is, and is listed in docs/reference/metrics.md', () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length)
    for (const { alert, labels, annotations } of alerts) {
      expect(labels.severity, alert).toMatch(/^(critical|warning)$/)
      expect(annotations.summary.length, alert).toBeGreaterThan(10)
      expect(annotations.description, alert).toMatch(/\blog\b|\blook\b|\/readyz|kubectl|raise|more runners/i)
      expect(docs, alert).toContain(`| [\`${alert}\`](`)
    }
  })

  test('each alert leads to its runbook: what it means, what to look at, what to do', () => {
    const sections = new Map(
      runbooks.split(/^## /m).map((text): [string, string] => [text.slice(0, text.indexOf('\n')), text]),
    )
    for (const { alert, annotations } of alerts) {
      expect(annotations.runbook_url).toBe(`${runbooksPath}#${alert.toLowerCase()}`)
      const parts = [...(sections.get(alert) ?? '').matchAll(/^\*\*(\w[\w ]*)\.\*\*/gm)].map(([, part]) => part)
      expect(parts, alert).toEqual(['Means', 'Look at', 'Do'])
    }
    const known = new Set(alerts.map(({ alert }) => alert))
    expect([...sections.keys()].filter((name) => name.startsWith('Automation') && !known.has(name))).toEqual([])
  })

  test('the runbooks name metrics that docs/reference/metrics.md documents, and shares that are recorded', () => {
    const parts =
      'grpc|database|gateway|catalog|audit|execution|runner|storage|scheduler|sandbox|process|nodejs|automation'
    const named = [...runbooks.matchAll(new RegExp(`\`((?:${parts})[_:][a-z_:0-9]+)`, 'g'))].map(
      ([, name = '']) => name,
    )
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter((name) => !isDocumented(name) && !ofProcesses.includes(name))).toEqual([])
  })

  test('each alert is put to a trial', () => {
    const trials = readFileSync(trialsFile, 'utf8')
    expect(alerts.filter(({ alert }) => !trials.includes(`alertname="${alert}"`))).toEqual([])
  })

  // Without promtool there is nothing to try.
  test.runIf(isThere('promtool'))(
    'alerts fire where something is wrong, and are silent where all is well',
    async () => {
      const { stdout } = await promisify(execFile)('promtool', ['test', 'rules', trialsFile])
      expect(stdout).toContain('SUCCESS')
    },
  )

  test.runIf(isThere('promtool'))(
    'every query of a panel and of a runbook is one that Prometheus itself takes, as are the rules',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'observability-'))
      try {
        const file = join(folder, 'queries.json')
        // A rule for each query: promtool checks rules, with the types of what functions are given.
        const asRules = [...ofPanels, ...ofRunbooks].map((expr, number) => ({ record: `query:${number}`, expr }))
        await writeFile(file, JSON.stringify({ groups: [{ name: 'queries', rules: asRules }] }))
        const check = (path: string) => promisify(execFile)('promtool', ['check', 'rules', path])
        expect((await check(file)).stdout).toContain(`SUCCESS: ${asRules.length} rules found`)
        expect((await check(join(chart, 'observability/rules.yaml'))).stdout).toContain('SUCCESS')
      } finally {
        await rm(folder, { recursive: true })
      }
    },
  )

  test('the dashboard shows every metric', () => {
    const shown = ofPanels.join('\n')
    const isShown = (name: string) => new RegExp(`\\b${name}(_bucket|_count|_sum)?\\b`).test(shown)
    expect([...documented.keys()].filter((name) => !name.startsWith('Automation') && !isShown(name))).toEqual([])
  })

  test('counts are added over namespaces; only of ages, shares and what one process has the largest is shown', () => {
    const ofOne = [
      'gateway_body_bytes',
      'runner_children_memory_bytes',
      'execution_spec_cache_bytes',
      'database_connections',
    ]
    const largest = ofPanels.filter((expr) => /^max\b/.test(expr)).flatMap(selectorsOf)
    const names = largest.map((selector) => selector.replace(/\{.*/s, ''))
    expect(names.length).toBeGreaterThan(5)
    expect(names.filter((name) => !name.endsWith('_seconds') && !ofOne.includes(name))).toEqual([])
  })

  test('no two panels have the same title, and each shows something', () => {
    const shown = dashboard.panels.filter(({ type }) => type !== 'row')
    expect(new Set(shown.map(({ title }) => title)).size).toBe(shown.length)
    expect(shown.filter(({ targets = [] }) => targets.length === 0)).toEqual([])
  })
})

function labelsOf(name: string): string[] {
  return documented.get(name) ?? documented.get(name.replace(/_(bucket|count|sum)$/, '')) ?? []
}

// Without helm there is nothing to try; `npm run check` says so.
describe.runIf(isThere('helm'))('the chart', () => {
  const ofMonitoring = (kind: string) => /^(ServiceMonitor|PrometheusRule)$/.test(kind)

  test('asks for no kinds of others unless it is told to', async () => {
    const manifests = await render(minimal)
    expect(manifests.filter(({ kind }) => ofMonitoring(kind))).toEqual([])
    expect(manifests.filter(({ metadata }) => metadata.name.endsWith('-dashboard'))).toEqual([])
  })

  test('has Prometheus read the metrics of every service, by ports that their Services have', async () => {
    const manifests = await render(full)
    const monitor = manifests.find(({ kind }) => kind === 'ServiceMonitor')!['spec'] as {
      selector: { matchLabels: Record<string, string> }
      endpoints: { port: string; path: string }[]
    }
    const selected = manifests.filter(
      ({ kind, metadata }) =>
        kind === 'Service' &&
        Object.entries(monitor.selector.matchLabels).every(([name, value]) => metadata.labels?.[name] === value),
    )
    const read = selected.filter(({ spec }) =>
      (spec as { ports: { name: string }[] }).ports.some(({ name }) =>
        monitor.endpoints.some(({ port }) => port === name),
      ),
    )
    const services = ['execution', 'gateway', 'process-catalog', 'sandbox', 'scheduler', 'storage']
    expect(new Set(read.map(component))).toEqual(new Set(services))
    expect(read).toHaveLength(services.length)
  })

  test('gives the operator the rules, each of which asks for what this release tells, and Grafana the dashboard', async () => {
    const manifests = await render(full)
    const rules = manifests.find(({ kind }) => kind === 'PrometheusRule')!
    const selectors = groupsOf(rules).flatMap((group) => group.rules.flatMap(({ expr }) => selectorsOf(expr)))
    expect(selectors.length).toBeGreaterThan(alerts.length)
    expect(selectors.filter((text) => !text.includes('{namespace="automation"'))).toEqual([])
    // Else they are those of the file.
    const bare = JSON.stringify(rules['spec']).replaceAll(/\{namespace=\\"automation\\"(, |\})/g, (_, end) =>
      end === '}' ? '' : '{',
    )
    expect(JSON.parse(bare)).toEqual(parse(rulesText))
    const elsewhere = await render(full, ['monitoring.rules.runbooks=https://wiki.example.com/runbooks'])
    expect(JSON.stringify(elsewhere.find(({ kind }) => kind === 'PrometheusRule'))).toContain(
      '"runbook_url":"https://wiki.example.com/runbooks#automationnorunner"',
    )
    expect(rules.metadata.labels).toMatchObject({ release: 'prometheus' })
    const board = manifests.find(({ metadata }) => metadata.name.endsWith('-dashboard'))!
    expect(board.metadata.labels).toMatchObject({ grafana_dashboard: '1' })
    expect(JSON.parse((board['data'] as Record<string, string>)['process-automation.json']!)).toEqual(dashboard)
  })

  // Without promtool there is nothing to try.
  test.runIf(isThere('promtool'))('gives two releases on one Prometheus alerts of their own', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'observability-'))
    const specIn = async (namespace: string) => {
      const text = await renderText(full, [], 'helm', [
        '--namespace',
        namespace,
        '--show-only',
        'templates/monitoring.yaml',
      ])
      const [, rules] = parseAllDocuments(text).map((document) => document.toJS() as Manifest)
      return rules!['spec']
    }
    const series = (metric: string, namespace: string, values: string) => ({
      series: `${metric}{namespace="${namespace}"}`,
      values,
    })
    const well = ['one', 'two'].map((namespace) => series('execution_running', namespace, '1x60'))
    const calls = ['one', 'two'].map((namespace) =>
      series('gateway_request_duration_seconds_count', namespace, '0+60x60'),
    )
    const alone = (name: string, value: number) => ({ labels: `{alertname="${name}", namespace="one"}`, value })
    const trial = {
      rule_files: ['one.json', 'two.json'],
      tests: [
        {
          interval: '1m',
          input_series: [
            ...well,
            ...calls,
            series('execution_event_oldest_seconds', 'one', '100x60'),
            series('gateway_failures_total', 'one', '0+6x60'),
          ],
          promql_expr_test: [
            {
              expr: 'count by (alertname, namespace) (ALERTS{alertstate="firing"})',
              eval_time: '40m',
              exp_samples: ['AutomationEventsStuck', 'AutomationRequestsFail', 'AutomationAvailabilityBudgetFast'].map(
                (name) => alone(name, 1),
              ),
            },
          ],
        },
        {
          interval: '1m',
          input_series: [...well.slice(1), ...calls],
          promql_expr_test: [
            {
              expr: 'count by (alertname, namespace) (ALERTS{alertstate="firing"})',
              eval_time: '40m',
              exp_samples: [alone('AutomationNotMeasured', 1)],
            },
          ],
        },
      ],
    }
    try {
      for (const namespace of ['one', 'two'])
        await writeFile(join(folder, `${namespace}.json`), JSON.stringify(await specIn(namespace)))
      await writeFile(join(folder, 'trial.json'), JSON.stringify(trial))
      const { stdout } = await promisify(execFile)('promtool', ['test', 'rules', join(folder, 'trial.json')])
      expect(stdout).toContain('SUCCESS')
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
