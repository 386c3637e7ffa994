import { digestOf, isRecord, isSame } from './canonical-json.ts'
import type { Comparison } from './compare.ts'
import type { Item, ItemKind } from './states.ts'

/** What a plan does to an item; the last five do nothing. */
export type Action = 'create' | 'update' | 'delete' | 'publish' | 'move' | 'clash' | 'theirs' | 'gone' | 'kept'

/** One line of a plan. It has no source and no secret. */
export interface PlanItem {
  action: Action
  kind: ItemKind | 'version' | 'alias'
  key: string
  /** Of what the files say. */
  digest?: string
  /** What the files and the server say differently. */
  fields?: string[]
  /** Of the record on the server: where it is, and the state that is replaced. */
  path?: string
  etag?: string
  /** Of the state on the server; what has no ETag is compared by it. */
  before?: string
  updatedBy?: string
  updatedAt?: string
  /** Why it is so, for people. */
  note?: string
  /** What is wrong with it and does not keep it from being pushed. */
  warnings?: string[]
  /** For versions and aliases. */
  tag?: string
}

/** What push is to do: exactly this, with exactly these files. */
export interface Plan {
  plan: 1
  url: string
  team: string
  context?: string
  repository?: string
  commit?: string
  items: readonly PlanItem[]
}

/** The phases of a push, in their order; what is deleted comes last, users before what they use. */
export const phases: readonly { action: 'write' | 'delete'; kind: PlanItem['kind'] }[] = [
  ...(['module', 'packages', 'variable', 'process', 'version', 'alias', 'schedule', 'team'] as const).map(
    (kind) => ({ action: 'write', kind }) as const,
  ),
  ...(['schedule', 'process', 'module'] as const).map((kind) => ({ action: 'delete', kind }) as const),
]

export interface PlanOptions {
  /** Whether what was removed here is removed there. */
  prune: boolean
  /** Keys whose state on the server the files replace, whoever has made it. */
  isOverwritten(key: string): boolean
  /** The file that a merge of an item has left, where it has. */
  unresolved(key: string): string | undefined
  /** Whether secrets are sent where nothing else has changed. */
  secrets: boolean
}

/** The lines of a plan, in the order of the push. What is the same, or only on the server, has none. */
export function planItems(comparisons: readonly Comparison[], options: PlanOptions): PlanItem[] {
  const items = comparisons.flatMap((comparison) => planItem(comparison, options))
  const rank = ({ action, kind }: PlanItem) =>
    phases.findIndex((phase) => phase.kind === kind && (phase.action === 'delete') === (action === 'delete'))
  return items.toSorted((a, b) => rank(a) - rank(b) || (a.key < b.key ? -1 : 1))
}

/** Whether a line of a plan is something that push does. */
export function isToDo({ action }: PlanItem): boolean {
  return ['create', 'update', 'delete', 'publish', 'move'].includes(action)
}

/** Whether push writes this field of an item. */
export function writesField(line: PlanItem, field: string): boolean {
  return isToDo(line) && (line.fields === undefined || line.fields.includes(field))
}

function planItem(comparison: Comparison, options: PlanOptions): PlanItem[] {
  const { key, local, remote, base } = comparison
  const item = local ?? remote?.item
  if (item === undefined) return []
  const left = options.unresolved(key)
  const verdict = left === undefined ? comparison.verdict : 'clash'
  const sendsSecrets =
    local !== undefined && hasSecrets(local) && (options.secrets || asksForPassword(local, remote?.item))
  if ((verdict === 'same' && !sendsSecrets) || verdict === 'new') return []
  const fields = local && remote ? differences(remote.item.state, local.state) : undefined
  const line: Omit<PlanItem, 'action'> = {
    kind: item.kind,
    key,
    ...(local && { digest: digestOf(local.state) }),
    ...(fields && { fields: sendsSecrets ? [...fields, 'secrets'] : fields }),
    ...(remote && { path: remote.path, before: digestOf(remote.item.state) }),
    ...(remote?.updatedBy && { updatedBy: remote.updatedBy }),
    ...(remote?.updatedAt && { updatedAt: remote.updatedAt }),
  }
  const noted = (action: Action, note?: string): PlanItem[] => [{ action, ...line, ...(note && { note }) }]
  if (verdict === 'same') return noted('update')
  if (left !== undefined) return noted('clash', `merge ${left} into the file beside it and remove it`)
  if (hasOtherLanguage(comparison)) return noted('clash', otherLanguage)
  if (local && options.isOverwritten(key) && (verdict === 'clash' || verdict === 'theirs' || verdict === 'gone'))
    return noted(remote ? 'update' : 'create', `replaces what ${remote?.updatedBy ?? 'somebody'} has made of it`)
  switch (verdict) {
    case 'delete':
      return [deletion(comparison, line, options)]
    case 'update':
      return noted('update', elsewhereText(comparison))
    case 'clash':
      return noted('clash', clashText(comparison, base !== undefined))
    case 'theirs':
      return noted('theirs', 'changed on the server alone: "pas pull" takes it')
    case 'gone':
      return noted('gone', 'removed on the server: "pas pull" removes it here')
    case 'create':
      return noted('create')
    default:
      return []
  }
}

function deletion({ remote, isOurs }: Comparison, line: Omit<PlanItem, 'action'>, { prune }: PlanOptions): PlanItem {
  const origin = remote?.origin ?? remote?.processOrigin
  const canGo = line.kind === 'process' || line.kind === 'schedule' || line.kind === 'module'
  if (!canGo) return { action: 'kept', ...line, note: 'no file names it any more; it stays' }
  if (!isOurs) {
    const writer = origin?.repository === undefined ? 'edited outside of git' : `pushed by ${origin.repository}`
    return { action: 'kept', ...line, note: `removed here, but last ${writer}; it stays` }
  }
  if (!prune) return { action: 'kept', ...line, note: 'removed here; --prune removes it there' }
  const note = line.kind === 'schedule' ? {} : { note: 'with all of its versions and aliases' }
  return { action: 'delete', ...line, ...note }
}

/** Where others have written what a commit has: they may have gone back to it on purpose. */
function elsewhereText({ remote, commit }: Comparison): string | undefined {
  const hasOrigin = remote?.item.kind === 'process' || remote?.item.kind === 'module'
  return hasOrigin && !remote.origin && commit ? `written elsewhere as commit ${commit.slice(0, 8)} has it` : undefined
}

function clashText({ local, remote }: Comparison, isMergeable: boolean): string {
  if (remote === undefined)
    return 'changed here and removed on the server: "pas pull --theirs" removes it, --overwrite makes it anew'
  if (local === undefined) return 'removed here and changed on the server: "pas pull" brings it back'
  return `changed here and on the server${isMergeable ? '' : ', and no common state is known'}: "pas pull" merges`
}

const otherLanguage =
  'the language of a process never changes: take another slug, or remove it, push with --prune, and add it again'

function hasOtherLanguage({ local, remote }: Comparison): boolean {
  const theirs = remote?.item
  return local?.kind === 'process' && theirs?.kind === 'process' && local.state.language !== theirs.state.language
}

function hasSecrets(item: Item): boolean {
  if (item.kind === 'variable') return item.secret !== undefined
  return item.kind === 'process' && Object.keys(item.secrets).length > 0
}

/** Whether the server has no password yet that the files want. */
function asksForPassword(local: Item, remote: Item | undefined): boolean {
  if (local.kind !== 'process' || remote?.kind !== 'process') return false
  return local.state.settings.webhook.username !== null && remote.state.settings.webhook.username === null
}

/** The names of what two states say differently, with dots. */
export function differences(a: unknown, b: unknown, at: readonly string[] = []): string[] {
  if (isSame(a, b)) return []
  if (!isRecord(a) || !isRecord(b) || at.at(-1) === 'parametersSchema')
    return [at.filter((name) => name !== 'settings').join('.') || 'value']
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((name) =>
    differences(a[name], b[name], [...at, name]),
  )
}
