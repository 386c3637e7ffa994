import { oneLine } from './plain-text.ts'

/** A record as lines of names and values. */
export function recordText(record: object): string {
  const rows = Object.entries(record).map(([name, value]: [string, unknown]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return [name, oneLine(text)] as const
  })
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, text]) => `${name.padEnd(width)}  ${text}`).join('\n')
}
