import { parseDocument, stringify } from 'yaml'

interface ChartChange {
  kind: 'added' | 'changed' | 'deprecated' | 'removed' | 'fixed' | 'security'
  description: string
}

const annotation = 'artifacthub.io/changes'
const start = '- The chart: '

/**
 * What a version brings to who installs the chart: lines of the changelog that begin with `The chart:`, of this version or
 * what is unreleased.
 */
export function chartChanges(changelog: string, version: string): ChartChange[] {
  const sections = changelog.split(/^## /m)
  const section =
    sections.find((text) => text.startsWith(`[${version}]`)) ?? sections.find((text) => /^\[unreleased\]/i.test(text))
  return (section ?? '').split(/^### /m).flatMap((part) => {
    const [title = '', ...lines] = part.split('\n')
    const kind = title.trim().toLowerCase() as ChartChange['kind']
    return lines.flatMap((line) => (line.startsWith(start) ? [{ kind, description: textOf(line) }] : []))
  })
}

/** Links of the changelog lead to files, which a reader of the annotation does not have. */
function textOf(line: string): string {
  const text = line.slice(start.length).replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

/** Chart.yaml with these changes as Artifact Hub shows them; all else stays as it is. */
export function withChanges(chartFile: string, changes: ChartChange[]): string {
  if (changes.length === 0) return chartFile
  const document = parseDocument(chartFile)
  document.setIn(['annotations', annotation], stringify(changes, { lineWidth: 0 }))
  return document.toString({ lineWidth: 0 })
}
