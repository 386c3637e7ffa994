import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isCollection, isMap, parseDocument, type Node, type Pair, type YAMLMap } from 'yaml'

const file = 'charts/process-automation/values.yaml'

interface Value {
  path: string
  fallback: unknown
  text: string
}

/** `docs/reference/chart-values.md`, of the comments in the chart's values. Throws where one at the top has no comment. */
export async function chartValuesPage(root: string, generatedBy: (source: string) => string): Promise<string> {
  const { contents } = parseDocument(await readFile(join(root, file), 'utf8'))
  if (!isMap(contents)) throw new Error(`${file} has no values`)
  const sections = entries(contents).map(({ name, value, text }) => {
    if (text === '') throw new Error(`${file}: ${name} has no comment`)
    const values = name === 'services' ? valuesOfServices(value as YAMLMap) : valuesBelow(name, value)
    const rows = values.map(({ path, fallback, text: meaning }) =>
      `| \`${path}\` | ${shown(fallback)} | ${meaning} |`.replace('|  |', '| |'),
    )
    return `## ${name}\n${text}\n\n| value | default | meaning |\n|---|---|---|\n${rows.join('\n')}`
  })
  return `# Values of the chart

${generatedBy(`the comments in \`${file}\``)}

What \`helm install\` and \`helm upgrade\` take with \`--set\` or \`--values\`. The schema of the chart refuses other names. [The chart](../../charts/process-automation/README.md) says how to install it.

${sections.join('\n\n')}
`
}

function entries(map: YAMLMap): { name: string; value: Node; text: string }[] {
  return map.items.map((item, index) => {
    const { key, value } = item as Pair<Node, Node>
    if (value === null) throw new Error(`${file}: ${String(key)} has no default`)
    // What stands before the first of a map belongs to the map, as YAML sees it.
    const comment = key.commentBefore ?? (index === 0 ? map.commentBefore : undefined) ?? ''
    return {
      name: String(key),
      value,
      text: comment
        .replaceAll(/\s*\n\s*/g, ' ')
        .trim()
        .replaceAll('|', '\\|'),
    }
  })
}

/** Single values; lists and empty maps are single ones. */
function valuesBelow(path: string, node: Node, text = ''): Value[] {
  if (!isMap(node) || node.items.length === 0) return [{ path, fallback: plain(node), text }]
  return entries(node).flatMap((each) => valuesBelow(`${path}.${each.name}`, each.value, each.text))
}

/** Each service has the same values: one row for all, with the defaults by service where they differ. */
function valuesOfServices(services: YAMLMap): Value[] {
  const rows = new Map<string, { text: string; byService: Map<string, unknown> }>()
  for (const { name: service, value } of entries(services))
    for (const { name, value: given, text } of entries(value as YAMLMap)) {
      const row = rows.get(name) ?? { text: '', byService: new Map() }
      row.byService.set(service, plain(given))
      rows.set(name, { ...row, text: row.text || text })
    }
  return [...rows].map(([name, { text, byService }]) => {
    const isSame = new Set([...byService.values()].map((value) => JSON.stringify(value))).size === 1
    const fallback =
      isSame && byService.size === services.items.length ? [...byService.values()][0] : new PerService(byService)
    return { path: `services.*.${name}`, fallback, text }
  })
}

/** A default that is not that of all services. */
class PerService {
  readonly values: Map<string, unknown>

  constructor(values: Map<string, unknown>) {
    this.values = values
  }
}

function plain(node: Node): unknown {
  return isCollection(node) ? (node.toJSON() as unknown) : (node as unknown as { value: unknown }).value
}

function shown(value: unknown): string {
  if (value instanceof PerService) return [...value.values].map(([name, each]) => `${name} ${shown(each)}`).join('<br>')
  if (value === '') return 'empty'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return `\`${text}\``
}
