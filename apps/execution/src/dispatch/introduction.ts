import { Language } from '@automation/contract/common/v1/language'
import { labelFault } from '@automation/contract/labels'
import type { Hello } from '@automation/contract/runner/v1/runner'
import { Failure, invalid } from '@automation/errors'
import type { Session } from '../store/sessions.ts'
import { storedText } from '../store/stored-text.ts'
import type { Labels } from '../store/team-pools.ts'
import { languagesOf } from './languages.ts'
import type { RunnerStream } from './runners.ts'

/** What a runner comes into. */
export interface Membership {
  pool: string
  /** Whose the pool is; undefined where it serves all teams. */
  owner: string | undefined
  /** What the pool wants of its runners. */
  labels: Labels
  /** Of a runner that came with one. */
  tokenId: string | undefined
  /** Of a runner that came with its key, and whose that pod is already. */
  pod?: { id: string; team: string | undefined }
}

const longestName = 255
const longestRemedy = 1000
const mostSlots = 10_000

/**
 * What a runner says of itself at the beginning, as its session and its stream have it. Whatever it says is bounded, and
 * holds nothing that a terminal would obey. Failures: invalid_argument at `/labels`; labels_missing.
 */
export function introduced(
  hello: Hello,
  { pool, owner, labels: wanted, tokenId, pod }: Membership,
): { session: Session; stream: Omit<RunnerStream, 'messages'> } {
  const { sessionId, teamMaxRunners, canDrain, retires, labels } = hello
  checkLabels(labels, wanted, pool)
  const about = {
    runnerName: shown(hello.runnerName, longestName),
    pool,
    slots: Math.min(hello.slots, mostSlots),
    oneTeam: hello.oneTeam || owner !== undefined || pod !== undefined,
  }
  // What it says goes to other teams: that of a pod is said by who makes pods.
  const remedy = pod === undefined ? shown(hello.oneTeamRemedy, longestRemedy) : ''
  const known = languagesOf(hello.languages)
  // One of a release that did not say.
  const languages = hello.languages.length === 0 ? [] : known.map((language) => Language[language])
  const version = shown(hello.version, longestName)
  return {
    session: {
      ...{ id: sessionId, ...about, team: owner ?? pod?.team, labels, tokenId, podId: pod?.id },
      ...{ version, languages, remedy, canDrain, retires },
    },
    stream: {
      ...{ sessionId, ...about, owner, isPod: pod !== undefined, team: pod?.team, teamMaxRunners },
      ...{ oneTeamRemedy: remedy, languages: known },
    },
  }
}

/** Failure invalid_argument at `/labels`. */
export function checkLabelForm(labels: Labels): void {
  const fault = labelFault(Object.entries(labels))
  if (fault !== undefined) throw invalid('/labels', fault)
}

function checkLabels(labels: Labels, wanted: Labels, pool: string): void {
  checkLabelForm(labels)
  const missing = Object.entries(wanted).filter(([name, value]) => labels[name] !== value)
  if (missing.length === 0) return
  const text = `The pool ${pool} takes runners with the labels ${textOf(wanted)}; this one is without ${textOf(Object.fromEntries(missing))}`
  throw new Failure('failed_precondition', 'labels_missing', text)
}

function textOf(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ')
}

function shown(text: string, longest: number): string {
  return storedText(text.slice(0, longest).replaceAll(/\p{Cc}/gu, ' '))
}
