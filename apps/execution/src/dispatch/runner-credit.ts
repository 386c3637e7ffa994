import type { Languages } from './languages.ts'

/** What a runner is, as it says at the beginning of its stream. */
export interface RunnerInit {
  readonly sessionId: string
  pool: string
  /** The pool is this team's, so the runner serves it alone, whatever it says; undefined in a pool of all teams. */
  owner?: string
  /** All slots of the runner, granted to whomever. */
  slots: number
  /** It serves one team: the one whose run it gets first. */
  oneTeam: boolean
  /** With `oneTeam`: whose it is, `bind` says, and no grant; until then it has one run at most, whatever it grants. */
  isPod?: boolean
  /** With `oneTeam`: a team that has so many runners in the pool takes no further one; 0: no bound. */
  teamMaxRunners?: number
  /** With `oneTeam`: why, and what its operator can do about it, in words for whoever waits. */
  oneTeamRemedy?: string
  /** It gets no runs in others. */
  languages: Languages
}

/** A runner's session as this replica sees it: how many slots it grants here now. */
export interface RunnerCredit extends RunnerInit {
  credit: number
  /** Of a runner of one team: whose runs its slots are for. Undefined while it is nobody's. */
  team?: string
  /** The runner has said whose it is, or was told. */
  bound: boolean
  /** Of a pod that is not bound: its one slot is taken. */
  isTaken: boolean
  /** Its lease runs out: its slots are not used until it is renewed. */
  doubtful: boolean
  /** Set once the runner takes its slots back: told of each that is not used. */
  returned?: (slots: number) => void
}

/** A runner as it is at first: it grants nothing yet, and is nobody's, but in a pool of one team. */
export function runnerCreditOf({ sessionId, pool, slots, languages, ...init }: RunnerInit): RunnerCredit {
  const { owner, isPod = false, teamMaxRunners, oneTeamRemedy } = init
  const isOwned = owner !== undefined
  const oneTeam = init.oneTeam || isOwned
  const about = { sessionId, pool, owner, slots, languages, oneTeam, isPod, teamMaxRunners, oneTeamRemedy }
  return { ...about, team: owner, credit: 0, bound: isOwned, isTaken: false, doubtful: false }
}

/** Runners among which a slot is looked for: of one pool and of the same languages. */
export interface Among {
  pool: string
  languages: Languages
}

/** A runner of these languages and this pool that runs code of all teams. */
export function isShared(runner: RunnerCredit, among: Among): boolean {
  return isAmong(runner, among) && !runner.oneTeam
}

/** A runner of one team that is this one's. */
export function isOwnOf(runner: RunnerCredit, among: Among, team: string): boolean {
  return isAmong(runner, among) && runner.oneTeam && runner.team === team && !isLeaving(runner)
}

/** The same, and not in doubt. */
export function isOf(runner: RunnerCredit, among: Among, team: string): boolean {
  return isOwnOf(runner, among, team) && !runner.doubtful
}

/** Why these serve one team each and what helps, as one of them says it: the end of a sentence. */
export function whyOneTeam(runners: RunnerCredit[]): string {
  const remedy = runners.find(({ oneTeamRemedy }) => oneTeamRemedy)?.oneTeamRemedy
  return remedy === undefined ? '' : `, as ${remedy}`
}

/** It takes its slots back. */
export function isLeaving({ returned }: RunnerCredit): boolean {
  return returned !== undefined
}

/** A runner of one team that is no team's yet. */
export function isNobodys(runner: RunnerCredit, among: Among): boolean {
  return isAmong(runner, among) && runner.oneTeam && runner.team === undefined
}

/** Slots of this runner that may be used now. */
export function free({ credit, doubtful, isPod, bound, isTaken }: RunnerCredit): number {
  if (doubtful) return 0
  return isPod && !bound ? Math.min(credit, Number(!isTaken)) : credit
}

/** Takes one of its slots. */
export function takeOf(runner: RunnerCredit): void {
  runner.credit -= 1
  runner.isTaken = !runner.bound
}

/** Gives slots back to be used again, or to the runner where it wants them back. */
export function add(runner: RunnerCredit, slots: number): void {
  if (runner.returned === undefined) runner.credit += slots
  else runner.returned(slots)
}

function isAmong(runner: RunnerCredit, { pool, languages }: Among): boolean {
  return runner.pool === pool && runner.languages === languages
}
