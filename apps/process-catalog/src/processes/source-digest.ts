import { createHash } from 'node:crypto'
import type { ProcessColumns } from './process-values.ts'

/** A module as far as its digest says something of it. */
interface DigestedModule {
  name: string
  language: string
  sourceCode: string
}

/** The same of a process. */
interface DigestedProcess
  extends
    DigestedModule,
    Omit<ProcessColumns, 'publicToken' | 'origin' | 'webhookAllowedAddresses' | 'formsTag' | 'frameAncestors'> {
  webhookUsername: string | null
}

/** All of a process that its writers decide on, but for its secrets. */
export interface ProcessState
  extends DigestedProcess, Pick<ProcessColumns, 'webhookAllowedAddresses' | 'formsTag' | 'frameAncestors'> {}

/** The digest of a process's source and metadata, as the document of the interface says; without its secrets. */
export function processDigest(row: DigestedProcess): string {
  return digestOf(digested(row))
}

/** The digest of all that a process's writers decide on, as the document of the interface says; without its secrets. */
export function processStateDigest(row: ProcessState): string {
  return digestOf({
    ...digested(row),
    'webhook.allowedAddresses': orNull(row.webhookAllowedAddresses),
    'settings.formsConfig.tag': row.formsTag,
    'settings.formsConfig.frameAncestors': orNull(row.frameAncestors),
  })
}

/** Records leave a list out that is empty. */
function orNull(list: string[]): string[] | null {
  return list.length === 0 ? null : list
}

function digested(row: DigestedProcess): Record<string, unknown> {
  return {
    name: row.name,
    slug: row.slug,
    description: row.description,
    readme: row.readme,
    programmingLanguage: row.language,
    sourceCode: row.sourceCode,
    parametersSchema: row.parametersSchema ? JSON.parse(row.parametersSchema) : null,
    'manifest.dependencies': JSON.parse(row.dependencies),
    tags: row.tags,
    'webhook.enabled': row.webhookEnabled,
    'webhook.username': row.webhookUsername,
    'settings.formsConfig.enabled': row.formsEnabled,
    'settings.publicConfig.enabled': row.publicEnabled,
    'settings.dependencies.scopedToProcess': row.dependenciesScopedToProcess,
    'settings.dependencies.autoDetect': row.dependenciesAutoDetect,
  }
}

/** The same of a module. */
export function moduleDigest({ name, language, sourceCode }: DigestedModule): string {
  return digestOf({ name, programmingLanguage: language, sourceCode })
}

function digestOf(members: Record<string, unknown>): string {
  return createHash('sha256').update(canonicalJson(members)).digest('hex')
}

type Step = { text: string } | { value: unknown }

/**
 * JSON as RFC 8785 writes it: without blanks, members in the order of the UTF-16 code units of their names, texts and
 * numbers as ECMAScript writes them. Values may be nested to any depth.
 */
export function canonicalJson(whole: unknown): string {
  const written: string[] = []
  const steps: Step[] = [{ value: whole }]
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    if ('text' in step) written.push(step.text)
    else if (typeof step.value !== 'object' || step.value === null) written.push(JSON.stringify(step.value))
    else for (const inner of stepsOf(step.value).toReversed()) steps.push(inner)
  }
  return written.join('')
}

function stepsOf(value: object): Step[] {
  if (Array.isArray(value)) {
    const items = value.flatMap((item: unknown, at): Step[] => [{ text: at === 0 ? '' : ',' }, { value: item }])
    return [{ text: '[' }, ...items, { text: ']' }]
  }
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const written = members.flatMap(([name, inner], at): Step[] => [
    { text: `${at === 0 ? '' : ','}${JSON.stringify(name)}:` },
    { value: inner },
  ])
  return [{ text: '{' }, ...written, { text: '}' }]
}
