import type { LanguageName } from '../fields/language.ts'
import { manifestOf, manifestText, missingFrom, type Dependencies } from './manifest.ts'

/** A manifest's row, as far as decisions on it need it. */
interface ManifestState {
  language: LanguageName
  installed: string
  staged: string | null
  status: string | null
  error: string | null
  detected: string | null
  installId: string | null
  installing: string | null
  byItself: boolean
}

type ManifestChange = Partial<ManifestState & { setKey: string | null; digest: string | null }>

/** A process whose runs wait for packages. */
export interface Waiter {
  id: string
  /** Names. */
  awaits: string[]
}

/** What a process's source needs beside the team's packages: names that its runs wait for, and what is to be done. */
export function planTeamSave(
  manifest: ManifestState,
  found: Dependencies,
): { awaits: string[]; change: ManifestChange } {
  const { language, installed, staged, status, detected } = manifest
  const missing = missingFrom(language, manifestOf(installed), found)
  const awaits = Object.keys(missing)
  if (awaits.length === 0) return { awaits, change: {} }
  const change: ManifestChange = {}
  const onItsWay = { ...manifestOf(manifest.installing), ...manifestOf(detected) }
  const added = missingFrom(language, onItsWay, missing)
  if (Object.keys(added).length > 0) change.detected = manifestText({ ...manifestOf(detected), ...added })
  if (staged !== null && status !== 'INSTALLING') {
    const stagedNow = manifestOf(staged)
    change.staged = manifestText({ ...stagedNow, ...missingFrom(language, stagedNow, missing) })
  }
  return { awaits, change }
}

/** A set of packages that is there already. */
export interface InstalledSet {
  setKey: string
  digest: string
}

/**
 * The packages of a process of its own: whatever differs from what is installed is installed by itself, unless the team has a set of
 * just these.
 */
export function planScopedSave(
  manifest: ManifestState,
  wanted: Dependencies,
  known: InstalledSet | undefined,
): { awaits: string[]; change: ManifestChange } {
  const { installed, staged, installing, status } = manifest
  const text = manifestText(wanted)
  if (installing === null && text === installed) return { awaits: [], change: staged === null ? {} : nothingStaged }
  if (known !== undefined && manifest.installId === null)
    return { awaits: [], change: { installed: text, ...known, ...nothingStaged } }
  if (status === 'INSTALLING' && staged === text) return { awaits: awaited(wanted), change: {} }
  return { awaits: awaited(wanted), change: { staged: text, status: 'INSTALLING', error: null } }
}

/** Of an install that removes the last packages, too, runs wait for something. */
function awaited(wanted: Dependencies): string[] {
  const names = Object.keys(wanted)
  return names.length > 0 ? names : ['(none)']
}

const nothingStaged = { staged: null, status: null, error: null } as const

/** The next install of a manifest where one is due and none is under way; what was found goes before what was staged. */
export function nextInstall(manifest: ManifestState): { packages: Dependencies; byItself: boolean } | undefined {
  const { language, installId, status, staged, installed, detected } = manifest
  if (installId !== null) return undefined
  if (detected !== null) {
    const there = manifestOf(installed)
    return { packages: { ...there, ...missingFrom(language, there, manifestOf(detected)) }, byItself: true }
  }
  return status === 'INSTALLING' ? { packages: manifestOf(staged), byItself: false } : undefined
}

/** What a manifest is after its install has succeeded. */
export function installedChange(manifest: ManifestState, digest: string): ManifestChange {
  const { installing, installId, byItself, status } = manifest
  const isEmpty = Object.keys(manifestOf(installing)).length === 0
  const done = { installId: null, installing: null, byItself: false }
  const set = { installed: installing!, setKey: isEmpty ? null : installId, digest: isEmpty ? null : digest }
  const keepsStaged = byItself || status !== 'INSTALLING' || isOther(manifest)
  return { ...done, ...set, ...(keepsStaged ? {} : nothingStaged) }
}

/** What a manifest is after its install was cut off: the same is due again. */
export function cutOffChange({ byItself, installing, detected }: ManifestState): ManifestChange {
  const done = { installId: null, installing: null, byItself: false }
  return byItself ? { ...done, detected: manifestText({ ...manifestOf(installing), ...manifestOf(detected) }) } : done
}

/** What a manifest is after its install has failed: what is installed stays. */
export function failedChange(manifest: ManifestState, error: string): ManifestChange {
  const done = { installId: null, installing: null, byItself: false }
  if (manifest.byItself && manifest.staged !== null) return done
  if (!manifest.byItself && isOther(manifest)) return done
  return { ...done, staged: manifest.byItself ? manifest.installing : manifest.staged, status: 'FAILED', error }
}

/** What was asked for last is not what this install brings. */
function isOther({ staged, installing }: ManifestState): boolean {
  return staged !== null && staged !== installing
}

/** Which of these wait no more: their packages are there. */
export function satisfied(language: LanguageName, waiters: Waiter[], there: Dependencies): Waiter[] {
  const asked = (names: string[]) => Object.fromEntries(names.map((name) => [name, '*']))
  return waiters.filter(({ awaits }) => Object.keys(missingFrom(language, there, asked(awaits))).length === 0)
}

/** Which of these have waited for one of the packages that did not come. */
export function disappointed(waiters: Waiter[], failed: Dependencies): Waiter[] {
  return waiters.filter(({ awaits }) => awaits.some((name) => Object.hasOwn(failed, name)))
}
