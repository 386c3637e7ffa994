import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Migrations after which the release before no longer works, which runs beside the new one during an upgrade and is what a
 * rollback goes to. What is not used any more goes a release later: the migration then names the release that stopped using
 * it in a line of its own, `-- unused since 1.4.0`, and CHANGELOG.md has that release. `tracked` are paths from `root`. One
 * line for each fault.
 */
export async function migrationFaults(root: string, tracked: string[]): Promise<string[]> {
  const changelog = await readFile(join(root, 'CHANGELOG.md'), 'utf8')
  const releases = new Set([...changelog.matchAll(/^## \[(\d+\.\d+\.\d+)\]/gm)].map(([, release]) => release!))
  const paths = tracked.filter((path) => /^apps\/[^/]+\/prisma\/migrations\/[^/]+\/migration\.sql$/.test(path))
  const faults = await Promise.all(
    paths.map(async (path) => {
      const sql = await readFile(join(root, path), 'utf8')
      return faultsOf(sql, releases).map((fault) => `${path} ${fault}`)
    }),
  )
  return faults.flat()
}

/** What a migration does that the release before does not survive, in words; `releases` are those that there were. */
export function faultsOf(sql: string, releases: ReadonlySet<string>): string[] {
  const named = /^-- unused since (\S+)$/m.exec(sql)?.[1]
  if (named !== undefined) return releases.has(named) ? [] : [`names ${named}, which is no release in CHANGELOG.md`]
  const own = new Set<string>()
  return statementsOf(sql).flatMap((statement) => {
    const created = /^CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?(\S+)/i.exec(statement)?.[1]
    if (created !== undefined) own.add(created)
    const [, altered = '', change = ''] = /^ALTER TABLE (?:IF EXISTS )?(?:ONLY )?(\S+) (.*)$/i.exec(statement) ?? []
    const broken = breaking.filter(({ pattern }) => pattern.test(statement))
    if (altered !== '' && !own.has(altered))
      broken.push(...breakingOfTables.filter(({ pattern }) => pattern.test(change)))
    return broken.map(({ what }) => `${what}: ${statement.slice(0, 100)}`)
  })
}

const breaking = [
  { pattern: /^DROP (?:TABLE|SCHEMA|SEQUENCE|TYPE|VIEW|FUNCTION)\b/i, what: 'drops what the release before may use' },
]

/** In the part of ALTER TABLE behind the name. */
const breakingOfTables = [
  {
    pattern: /\bDROP (?!CONSTRAINT\b|DEFAULT\b|NOT NULL\b|EXPRESSION\b|IDENTITY\b)/i,
    what: 'drops a column that the release before may use',
  },
  { pattern: /\bRENAME (?!CONSTRAINT\b)/i, what: 'renames what the release before uses' },
  {
    pattern:
      /\bADD (?:COLUMN )?(?!CONSTRAINT\b)(?:(?!,\s*(?:ADD|ALTER|DROP)\b|\bDEFAULT\b|\bGENERATED\b).)*\bNOT NULL\b(?!(?:(?!,\s*(?:ADD|ALTER|DROP)\b).)*\b(?:DEFAULT|GENERATED)\b)/i,
    what: 'adds a column without a default that the release before leaves out',
  },
  { pattern: /\bALTER (?:COLUMN )?\S+ (?:SET DATA )?TYPE\b/i, what: 'changes the type of a column' },
  { pattern: /\bSET NOT NULL\b/i, what: 'refuses what the release before may write' },
  {
    pattern: /\bADD (?:CONSTRAINT|CHECK|UNIQUE|PRIMARY KEY|FOREIGN KEY|EXCLUDE)\b/i,
    what: 'refuses what the release before may write',
  },
]

/** Statements on a line each, without comments and texts. */
function statementsOf(sql: string): string[] {
  return sql
    .replaceAll(/(\$\w*\$)[^]*?\1/g, "''")
    .replaceAll(/'(?:[^']|'')*'/g, "''")
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/\/\*[^]*?\*\//g, '')
    .split(';')
    .map((statement) => statement.replaceAll(/\s+/g, ' ').trim())
    .filter((statement) => statement !== '')
}
