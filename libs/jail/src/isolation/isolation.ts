import { basename, delimiter, join } from 'node:path'
import { accessSync, constants } from 'node:fs'
import { Failure } from '@automation/errors'
import type { NetworkName, IsolationConfig, IsolationLevel } from './config.ts'

/** An isolation level that may be tried. */
export interface Candidate {
  level: IsolationLevel
  network: NetworkName
  /** The program that leads a network of its own out. */
  helper?: string
}

/** What a trial of an isolation level found: why it does not serve here, or what stays open behind it. */
export type Trial = { why: string } | { open: string[] }

/** The isolation in force, and how it was chosen. */
export interface Isolation extends Candidate {
  /** What a child can still reach, in words. */
  open: string[]
  tried: { level: string; why: string }[]
  /** The isolation does not part teams: only one may be served. */
  oneTeam: boolean
  /** Why it parts no teams, and what the operator can do about it; undefined where it does. */
  remedy?: string
}

// As trials, receptions and launchers say it.
const late = /\bin time$/

const permitNamespaces =
  'let this account make user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, ' +
  'kernel.apparmor_restrict_unprivileged_userns, or the seccomp profile of the container)'
const installHelper = 'install slirp4netns or passt on the machine of the runner'
const allowAnyway = 'set ISOLATION_MANY_TEAMS=true where teams trust each other'

const advice: Record<IsolationLevel, string> = {
  namespaces: `L${permitNamespaces.slice(1)}, or set ISOLATION=auto.`,
  pod: 'It needs a kernel with Landlock (5.13 or later, "landlock" in /sys/kernel/security/lsm). Or set ISOLATION=auto.',
  none: 'Look at RUNNER_PYTHON and at what the words above say.',
}

/**
 * The isolation levels that may be tried, the best first; a network of its own by each of the helpers. `apart`: behind `namespaces`
 * no child shares its loopback; where the network of the host would be taken, it has none but that.
 */
export function candidates({ wanted, network }: IsolationConfig, helpers: string[], apart = false): Candidate[] {
  const otherwise = apart ? 'alone' : 'host'
  const all: Candidate[] = [
    ...helpers.map((helper): Candidate => ({ level: 'namespaces', network: 'own', helper })),
    { level: 'namespaces', network: otherwise },
    { level: 'pod', network: 'host' },
    { level: 'none', network: 'host' },
  ]
  const fitting = all.filter((each) => wanted === 'auto' || each.level === wanted)
  return network === 'auto'
    ? fitting
    : fitting.filter((each) => (each.network === 'own') === (network === 'own') || each.level !== 'namespaces')
}

/**
 * Tries one isolation level after the other until one holds; one that was late once more, as the machine may be busy. Failure
 * `isolation_does_not_hold` when none of those that the configuration allows does.
 */
export async function chooseIsolation(
  config: IsolationConfig,
  helpers: string[],
  tryOut: (candidate: Candidate) => Promise<Trial>,
  apart = false,
): Promise<Isolation> {
  const tried: Isolation['tried'] = []
  for (const candidate of candidates(config, helpers, apart)) {
    const first = await tryOut(candidate)
    const trial = 'why' in first && late.test(first.why) ? await tryOut(candidate) : first
    if ('open' in trial) {
      const remedy = remedyFor(candidate, config, helpers, tried)
      const oneTeam = remedy !== undefined && !config.manyTeamsAnyway
      return { ...candidate, open: trial.open, tried, oneTeam, ...(remedy !== undefined && { remedy }) }
    }
    tried.push({ level: nameOf(candidate), why: trial.why })
  }
  const wanted = config.wanted === 'auto' ? 'none' : config.wanted
  const words = tried.map(({ level, why }) => `${level}: ${why}`).join('; ') || 'Nothing could be tried'
  const own = config.network === 'own' ? ' ISOLATION_NETWORK=own needs slirp4netns or pasta (package passt).' : ''
  throw new Failure(
    'failed_precondition',
    'isolation_does_not_hold',
    `ISOLATION=${config.wanted} does not hold here. ${words}. ${advice[wanted]}${own}`,
  )
}

/** Whether it parts runs from those of other teams: else one team is served, or such as trust each other. */
export function partsTeams({ level, network }: Candidate): boolean {
  return level === 'namespaces' && network !== 'host'
}

/**
 * Why runs at this isolation level are not parted from those of other teams, and what helps. On the network of the host any of
 * them reaches what others listen on, and what listens on the loopback of the machine.
 */
function remedyFor(
  candidate: Candidate,
  { wanted, network: wantedNetwork, manyTeamsAnyway }: IsolationConfig,
  helpers: string[],
  tried: Isolation['tried'],
): string | undefined {
  if (partsTeams(candidate)) return undefined
  const { level } = candidate
  const steps: string[] = []
  if (level !== 'namespaces') steps.push(wanted === 'auto' ? permitNamespaces : 'set ISOLATION=auto')
  if (wantedNetwork === 'host') steps.push('set ISOLATION_NETWORK=auto')
  if (helpers.length === 0) steps.push(installHelper)
  // What was tried before a jail on the network of the host is the same with a network of its own.
  const failed = level === 'namespaces' && tried.map((each) => `${each.level} does not hold: ${each.why}`).join('; ')
  const how = [steps.join(' and '), failed, !manyTeamsAnyway && allowAnyway].filter(Boolean).join(', or ')
  const why = level === 'namespaces' ? 'runs have no network of their own' : `the isolation is ${level}`
  return `${why}: ${how}`
}

/** For people: `namespaces, own network (pasta)`. */
export function nameOf({ level, network, helper }: Candidate): string {
  if (level !== 'namespaces') return level
  if (network === 'alone') return `${level}, no network but an own loopback`
  return network === 'host' ? `${level}, host network` : `${level}, own network (${basename(helper ?? '')})`
}

/** One line for `/readyz` and logs. */
export function describeIsolation(isolation: Isolation): string {
  const why = isolation.remedy === undefined ? '' : `, as ${isolation.remedy}`
  const teams = isolation.oneTeam ? `; serves one team${why}` : ''
  const open = isolation.open.length === 0 ? '' : `; open: ${isolation.open.join(', ')}`
  const tried = isolation.tried.map((each) => `; ${each.level} does not hold: ${each.why}`).join('')
  return `${nameOf(isolation)}${teams}${open}${tried}`
}

/** What a newcomer is told of the isolation, and what would make it better where something would. */
export function summarizeIsolation(isolation: Isolation): { detail: string; advice?: string } {
  return {
    detail: `${nameOf(isolation)}; serves ${isolation.oneTeam ? 'one team' : 'many teams'}`,
    advice: isolation.remedy,
  }
}

// The first takes 1 MB for each child, the second 30.
const programs = ['slirp4netns', 'pasta']
const usualDirectories = ['/usr/local/bin', '/usr/bin', '/usr/sbin']

/** The programs that lead a network of a child's own out into the world, the best first. */
export function networkHelpers(path = process.env['PATH'] ?? ''): string[] {
  const directories = [...path.split(delimiter).filter((directory) => directory.startsWith('/')), ...usualDirectories]
  return programs.flatMap(
    (program) => directories.map((directory) => join(directory, program)).find(isExecutable) ?? [],
  )
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    // It is not there, or not for us.
    return false
  }
}
