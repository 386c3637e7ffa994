import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The names of the metrics at this address, those of any process in this language left out. */
export async function metricsAt(address: string): Promise<string[]> {
  const text = await (await fetch(`${address}/metrics`)).text()
  const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name)
  return names.filter((name) => !/^(process|nodejs)_/.test(name))
}

/** The names of metrics that docs/reference/metrics.md has a line for. */
export async function metricsInDocs(): Promise<string[]> {
  const text = await readFile(join(import.meta.dirname, '../../../docs/reference/metrics.md'), 'utf8')
  const cells = text.split('\n').flatMap((line) => (line.startsWith('| `') ? [line.split('|')[1] ?? ''] : []))
  return cells.flatMap((cell) => [...cell.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name))
}
