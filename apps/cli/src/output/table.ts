import { oneLine } from './plain-text.ts'

/** A column of a table: its title, and what it shows of an item. */
export interface Column<T = unknown> {
  title: string
  of(item: T): unknown
}

/** A table of texts: columns as wide as their widest cell, two spaces between them. */
export function tableOf<T>(items: readonly T[], columns: readonly Column<T>[], head = (text: string) => text): string {
  const rows = items.map((item) => columns.map((column) => cellText(column.of(item))))
  const widths = columns.map((column, index) => Math.max(column.title.length, ...rows.map((row) => row[index]!.length)))
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, index) => cell.padEnd(widths[index]!))
      .join('  ')
      .trimEnd()
  return [head(line(columns.map(({ title }) => title.toUpperCase()))), ...rows.map(line)].join('\n')
}

// Names and comments are texts of others: no control character and no colour in them reaches the terminal.
function cellText(value: unknown): string {
  if (value === undefined || value === null) return '-'
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean)
  return oneLine(text) || '-'
}
