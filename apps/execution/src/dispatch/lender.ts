import type { Languages } from './languages.ts'

/** What a runner is, as it says at the beginning of its stream. */
export interface LenderInit {
  readonly sessionId: string
  pool: string
  /** All slots of the runner, lent to whomever. */
  slots: number
  /** It serves one team: the one whose run it gets first. */
  oneTeam: boolean
  /** With `oneTeam`: a team that has so many runners in the pool takes no further one; 0: no bound. */
  teamMaxRunners?: number
  /** With `oneTeam`: why, and what its operator can do about it, in words for whoever waits. */
  oneTeamRemedy?: string
  /** It gets no runs in others. */
  languages: Languages
}

/** A runner's session as this replica sees it: how many slots it lends here now. */
export interface Lender extends LenderInit {
  credit: number
  /** Of a runner of one team: whose runs its slots are for. Undefined while it is nobody's. */
  team?: string
  /** The runner has said whose it is. */
  bound: boolean
  /** Its lease runs out: its slots are not used until it is renewed. */
  doubtful: boolean
  /** Set once the runner takes its slots back: told of each that is not used. */
  returned?: (slots: number) => void
}

/** A runner as it is at first: it lends nothing yet, and is nobody's. */
export function lenderOf({ sessionId, pool, slots, languages, ...init }: LenderInit): Lender {
  const { oneTeam, teamMaxRunners, oneTeamRemedy } = init
  const about = { sessionId, pool, slots, languages, oneTeam, teamMaxRunners, oneTeamRemedy }
  return { ...about, credit: 0, bound: false, doubtful: false }
}

/** Lenders among which a slot is looked for: of one pool and of the same languages. */
export interface Among {
  pool: string
  languages: Languages
}

/** A runner of these languages and this pool that runs code of all teams. */
export function isShared(lender: Lender, among: Among): boolean {
  return isAmong(lender, among) && !lender.oneTeam
}

/** A runner of one team that is this one's, and not in doubt. */
export function isOf(lender: Lender, among: Among, team: string): boolean {
  return isAmong(lender, among) && lender.oneTeam && lender.team === team && !lender.doubtful && !isLeaving(lender)
}

/** Why these serve one team each and what helps, as one of them says it: the end of a sentence. */
export function whyOneTeam(lenders: Lender[]): string {
  const remedy = lenders.find(({ oneTeamRemedy }) => oneTeamRemedy)?.oneTeamRemedy
  return remedy === undefined ? '' : `, as ${remedy}`
}

/** It takes its slots back. */
export function isLeaving({ returned }: Lender): boolean {
  return returned !== undefined
}

/** A runner of one team that is no team's yet. */
export function isNobodys(lender: Lender, among: Among): boolean {
  return isAmong(lender, among) && lender.oneTeam && lender.team === undefined
}

/** Slots of this runner that may be used now. */
export function free({ credit, doubtful }: Lender): number {
  return doubtful ? 0 : credit
}

/** Gives slots back to be used again, or to the runner where it wants them back. */
export function add(lender: Lender, slots: number): void {
  if (lender.returned === undefined) lender.credit += slots
  else lender.returned(slots)
}

function isAmong(lender: Lender, { pool, languages }: Among): boolean {
  return lender.pool === pool && lender.languages === languages
}
