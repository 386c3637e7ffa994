import { usageError } from '../exit.ts'
import type { Comparison } from './compare.ts'
import { editYaml, newYaml } from './edit-yaml.ts'
import { noFiles, type MergedFiles } from './merged-files.ts'
import { mergeText, mergeTyped } from './merge-text.ts'
import { mergeValues, unknownBase, withChanges, type Change, type Side } from './merge-values.ts'
import { packageFiles, packagesText } from './package-files.ts'
import type { Files } from './process-folder.ts'
import { pathsOfItem, readVariables } from './project-items.ts'
import { isRecord } from './canonical-json.ts'
import type { Item, ModuleState, PackagesState, VariableState } from './states.ts'

/** Merges what the server has of a module into its file. */
export function mergeModule({ key, local, remote, base }: Comparison, files: Files, side?: Side): MergedFiles {
  const merged = noFiles()
  const path = pathsOfItem(key).find((each) => files.has(each)) ?? pathsOfItem(key)[0]!
  const l = (local?.state as ModuleState | undefined)?.sourceCode ?? null
  const r = (remote?.item.state as ModuleState | undefined)?.sourceCode ?? null
  const b = (base as ModuleState | undefined)?.sourceCode
  const typed = files.get(path)
  const { text, isConflict } =
    path.endsWith('.ts') && typed !== undefined && l !== null && r !== null
      ? mergeTyped({ typed, stripped: l }, b, r, side)
      : mergeText(local === undefined ? null : b, l, r, side)
  if (isConflict) merged.clashes.set(path, r ?? '')
  else if (text !== (typed ?? null)) merged.writes.set(path, text)
  return merged
}

/** Merges what the server has of a language's packages into their file. */
export function mergePackages({ local, remote, base }: Comparison, files: Files, side?: Side): MergedFiles {
  const merged = noFiles()
  const item = remote!.item as Item & { kind: 'packages' }
  const path = packageFiles[item.name]
  const l = (local?.state ?? {}) as PackagesState
  const { changes, conflicts } = mergeValues(base ?? (local ? unknownBase : {}), l, item.state, side)
  if (conflicts.length > 0) merged.clashes.set(path, packagesText(item.name, item.state, undefined))
  else if (changes.length > 0)
    merged.writes.set(path, packagesText(item.name, withChanges(l, changes), files.get(path)))
  return merged
}

/** Merges variables into variables.yaml: all at once, since they share it. Throws where one has a name that the file can't have. */
export function mergeVariables(
  comparisons: readonly Comparison[],
  files: Files,
  { context, side }: { context?: string; side?: Side },
): MergedFiles {
  const merged = noFiles()
  const path = 'variables.yaml'
  const text = files.get(path) ?? newYaml(' Variables of the team; { env: NAME } for sensitive ones.', {})
  const changes: Change[] = []
  const clashing: Record<string, unknown> = {}
  for (const { key, local, remote, verdict } of comparisons) {
    const name = key.slice('variable/'.length)
    if (name === 'contexts')
      throw usageError(
        'The team has a variable named contexts, which is no name of one in variables.yaml: there, it has what differs between contexts. Give the variable another name.',
      )
    const before = local && 'secret' in local ? local.secret : undefined
    const value = remote && variableValue(name, remote.item.state as VariableState, before)
    if (verdict === 'clash' && side === undefined) clashing[name] = value ?? null
    else if (verdict !== 'clash' || side === 'theirs') changes.push({ path: placeOf(name, text, context), value })
  }
  if (Object.keys(clashing).length > 0) merged.clashes.set(path, newYaml(' What the server has', clashing))
  if (changes.length > 0) merged.writes.set(path, editYaml(text, changes, []))
  return merged
}

function placeOf(name: string, text: string, context: string | undefined): string[] {
  if (context === undefined) return [name]
  const differs = readVariables(text, context)[name] !== readVariables(text)[name]
  return differs ? ['contexts', context, name] : [name]
}

function variableValue(name: string, { value, isSensitive }: VariableState, secret = name): unknown {
  return isSensitive ? { env: secret } : value
}

/** Merges the team's settings that pas.yaml names. */
export function mergeTeam({ local, remote, base }: Comparison, files: Files, side?: Side): MergedFiles {
  const merged = noFiles()
  const text = files.get('pas.yaml')!
  const { changes, conflicts } = mergeValues(base ?? unknownBase, local!.state, remote!.item.state, side)
  const edits = changes.map(({ path, value }) => ({
    path: ['team', ...path],
    value: value === undefined && isRecord(local) ? null : value,
  }))
  if (conflicts.length > 0)
    merged.clashes.set('pas.yaml', newYaml(' What the server has', { team: remote!.item.state }))
  else if (edits.length > 0) merged.writes.set('pas.yaml', editYaml(text, edits, []))
  return merged
}
