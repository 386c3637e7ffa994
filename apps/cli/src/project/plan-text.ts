import type { Action, Plan, PlanItem } from './plan.ts'
import { oneLine } from '../output/plain-text.ts'

const signs: Readonly<Record<Action, string>> = {
  create: '+',
  update: '~',
  delete: '-',
  publish: '+',
  move: '~',
  clash: '!',
  theirs: '<',
  gone: '<',
  kept: '=',
}

/** A plan for people: a line an item, and what it comes to. */
export function planText({ items, url, team }: Plan): string {
  const lines = items.flatMap((item) => [
    `${signs[item.action]} ${itemText(item)}`,
    ...(item.warnings ?? []).map((warning) => `  warning: ${oneLine(warning)}`),
  ])
  return [...lines, `${summary(items)} (${team} at ${url})`].join('\n')
}

/** A plan as Markdown, such as for the summary of a CI's run. */
export function planMarkdown({ items, url, team, context }: Plan): string {
  const title = `### Plan for ${context ?? team}\n\n\`${team}\` at ${url}: ${summary(items)}\n`
  if (items.length === 0) return title
  const rows = items.map(
    (item) =>
      `| ${words[item.action]} | \`${cell(item.key)}\` | ${cell(item.fields?.join(', ') ?? item.tag ?? '')} | ${cell([writer(item), item.note, ...(item.warnings ?? [])].filter(Boolean).join('; '))} |`,
  )
  return `${title}\n| | item | what | |\n|---|---|---|---|\n${rows.join('\n')}\n`
}

const words: Readonly<Record<Action, string>> = {
  create: 'create',
  update: 'update',
  delete: '**delete**',
  publish: 'publish',
  move: 'move',
  clash: '**clash**',
  theirs: 'edited on the server',
  gone: 'removed on the server',
  kept: 'kept',
}

/** An item of a plan in one line. */
export function itemText(item: PlanItem): string {
  const what = item.fields?.length ? `: ${item.fields.join(', ')}` : item.tag === undefined ? '' : ` ${item.tag}`
  const aside = [writer(item), item.note].filter(Boolean).join('; ')
  return oneLine(`${words[item.action].replaceAll('*', '')} ${item.key}${what}${aside === '' ? '' : ` (${aside})`}`)
}

/** What a plan comes to, in words. */
export function summary(items: readonly PlanItem[]): string {
  const count = (...actions: Action[]) => items.filter(({ action }) => actions.includes(action)).length
  const parts = [
    [count('create', 'publish'), 'to create'],
    [count('update', 'move'), 'to change'],
    [count('delete'), 'to delete'],
    [count('clash'), 'in clash'],
    [count('theirs', 'gone'), 'changed on the server'],
    [count('kept'), 'kept'],
  ] as const
  const told = parts.filter(([number]) => number > 0).map(([number, text]) => `${number} ${text}`)
  return told.length === 0 ? 'Nothing to do' : told.join(', ')
}

/** Who has written it last, where that is not this repository. */
function writer({ action, note, updatedBy, updatedAt }: PlanItem): string | undefined {
  const isElsewhere = action === 'clash' || action === 'theirs' || (action === 'update' && note !== undefined)
  if (!isElsewhere || updatedBy === undefined) return undefined
  return `by ${updatedBy}${updatedAt === undefined ? '' : ` at ${updatedAt}`}`
}

const cell = (text: string) => oneLine(text).replaceAll('|', '\\|').replaceAll('<', '&lt;')
