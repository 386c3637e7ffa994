export type Packages = Readonly<Record<string, string>>

export interface PackageChange {
  name: string
  kind: 'added' | 'removed' | 'changed' | 'same'
  from?: string
  to?: string
}

/** What becomes of each package between two lists, by name. */
export function changesBetween(before: Packages, after: Packages): PackageChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted()
  return names.map((name) => {
    const from = before[name]
    const to = after[name]
    if (from === undefined) return { name, kind: 'added', to }
    if (to === undefined) return { name, kind: 'removed', from }
    return { name, kind: from === to ? 'same' : 'changed', from, to }
  })
}

/**
 * Packages as people write them, one a line or apart by commas: `lodash`, `lodash@^4`, `@scope/name@1.2`, `requests>=2`,
 * `requests==2.31`. Without a version it is `*`, which takes the newest.
 */
export function packagesIn(text: string): Packages {
  const entries = text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line): [string, string] => {
      const at = line.indexOf('@', 1)
      const sign = /[<>=!~]/.exec(line)
      const isPip = sign !== null && (at === -1 || sign.index < at)
      const end = isPip ? sign.index : at === -1 ? line.length : at
      const version = line.slice(isPip ? end : end + 1).trim()
      return [line.slice(0, end).trim(), version || '*']
    })
  return Object.fromEntries(entries)
}
