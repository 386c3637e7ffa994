/** A line of headers that is none. */
export class HeaderLineError extends Error {}

/** Headers from lines such as `Name: value`; empty lines count for nothing. */
export function headersOf(lines: string): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [index, line] of lines.split('\n').entries()) {
    if (line.trim() === '') continue
    const colon = line.indexOf(':')
    if (colon < 1) throw new HeaderLineError(`Line ${index + 1} is not of the form Name: value`)
    headers[line.slice(0, colon).trim()] = line.slice(colon + 1).trim()
  }
  return headers
}

/** Parameters of a query as `a=1&b=2`, one that comes several times as a list. */
export function queryOf(text: string): Record<string, string | string[]> {
  const all = new URLSearchParams(text.replaceAll('\n', '&'))
  return Object.fromEntries(
    [...new Set(all.keys())].map((name) => {
      const values = all.getAll(name)
      return [name, values.length > 1 ? values : (values[0] ?? '')]
    }),
  )
}

/** The parts of a list that people type with commas, blanks or line ends between. */
export const wordsOf = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '')
