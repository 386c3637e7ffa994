import { setTimeout as pause } from 'node:timers/promises'
import { Language } from '@automation/contract/common/v1/language'
import {
  RunnerOperatorService,
  type PoolOnDemand,
  type Runner,
} from '@automation/contract/execution/v1/runner_operator'
import type { Command } from 'commander'
import { Failure } from '@automation/errors'
import type { Client } from '@automation/rpc'
import { cellName } from './cell-move.ts'
import { operatorContext } from './operator-context.ts'
import type { Answer } from './answer.ts'
import { acts, group, leaf, tell, time, type Perform } from './command-parts.ts'
import { labelsText } from './pools.ts'
import type { Target } from './target.ts'

const lookEveryMs = 500
/** Longer than a third of a lease: it should have been heard of. */
const silentMs = 10_000

/** The commands for runners. */
export function addRunners(program: Command, perform: Perform): void {
  const runners = group(program, 'runners', 'the runners, which run the code of processes')
  leaf(runners, 'list', 'each runner: what it serves, how many of its slots are in use, and what it waits for').action(
    acts(perform, (target) => listRunners(target, tell)),
  )
  leaf(runners, 'drain <id>', 'let a runner take no more runs, and end once those that it has are over')
    .option('--wait', 'until it has ended')
    .action(
      acts(perform, (target, id: string, { wait = false }: { wait?: boolean }) =>
        drainRunner(target, id, { wait, tell }),
      ),
    )
}

/**
 * The runners of all pools, those that have been there longest first; behind them those that were made on demand and have not
 * come yet, and for each pool why none is made. `tell` hears of cells that do not answer.
 */
export async function listRunners(target: Target, tell: (text: string) => void): Promise<Answer> {
  const { runners, poolsOnDemand } = await readRunners(target, tell)
  const records = runners.map(runnerRecord)
  const starting = poolsOnDemand.flatMap(startingRecords)
  const rows = records.map((record) => [
    record.id,
    record.name,
    record.version || '-',
    record.pool,
    record.languages.join(' '),
    labelsText(record.labels),
    teamText(record),
    `${record.running} of ${record.slots}`,
    record.connectedAt,
    record.replicas.join(' ') || '-',
    record.state,
  ])
  const startingRows = starting.map(({ name, pool, madeAt, state, why }) => [
    ...['-', name ?? '-', '-', pool, '-', '-', '-', '-', madeAt ?? '-', '-'],
    `${state}: ${why}`,
  ])
  const head = ['ID', 'NAME', 'VERSION', 'POOL', 'LANGUAGES', 'LABELS', 'TEAM', 'IN USE', 'SINCE', 'REPLICAS', 'STATE']
  return { json: [...records, ...starting], table: { head, rows: [...rows, ...startingRows] } }
}

/**
 * Lets a runner take no more runs and end once those that it has are over; with `wait` it returns when the runner has ended,
 * and `tell` hears how many runs are left. Failures: runner_not_found, runner_stays.
 */
export async function drainRunner(
  target: Target,
  id: string,
  { wait, tell }: { wait: boolean; tell(text: string): void },
): Promise<Answer> {
  await askedInOne(target, tell, (ofCell) => ofCell.drainRunner({ id }, operatorContext()))
  if (!wait) {
    const text = `Runner ${id} takes no more runs, and ends once those that it has are over.`
    return { json: { id, draining: true, ended: false }, text }
  }
  const told = new Set<string>()
  const tellOnce = (text: string) => {
    if (!told.has(text)) tell(text)
    told.add(text)
  }
  for (let left: number | undefined; ;) {
    const { runners, isWhole } = await readRunners(target, tellOnce)
    const runner = runners.find((each) => each.id === id)
    // Where a cell does not answer it may go on there.
    if (runner === undefined && isWhole)
      return { json: { id, draining: true, ended: true }, text: `Runner ${id} has ended.` }
    if (runner !== undefined && runner.running !== left) tell(`Runs that are not over: ${runner.running}.`)
    left = runner?.running
    await pause(lookEveryMs)
  }
}

/**
 * Why runs of a team that has just been made may wait: all runners serve one team each, and no more are made on demand.
 * Undefined where some can serve it, where none is there, and where no service answers that knows.
 */
export async function whyNoneForNewTeam(target: Target): Promise<string | undefined> {
  const { runners } = await readRunners(target, () => undefined).catch((error: unknown) => {
    if (error instanceof Failure) return { runners: [] }
    throw error
  })
  const [first] = runners
  if (first === undefined || !runners.every(({ oneTeam, retires }) => oneTeam && !retires)) return undefined
  const why = first.remedy === '' ? '' : `, as ${first.remedy}`
  if (runners.some(({ team }) => team === '')) return `Each runner serves one team, that of its first run${why}.`
  const teams = [...new Set(runners.map(({ team }) => team))].join(', ')
  return `Its runs will wait: each runner serves one team, and all serve others (${teams})${why}.`
}

/** Of the cells that answer, and whether these are all; `tell` hears of others. Failure of the first one where none does. */
async function readRunners(
  target: Target,
  tell: (text: string) => void,
): Promise<{ runners: Runner[]; poolsOnDemand: PoolOnDemand[]; isWhole: boolean }> {
  const cells = [...target.inCells(RunnerOperatorService)]
  const asked = await Promise.allSettled(cells.map(([, ofCell]) => ofCell.listRunners({}, operatorContext())))
  const answers = asked.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
  for (const [at, one] of asked.entries()) {
    if (one.status === 'fulfilled') continue
    if (answers.length === 0 || !isAway(one.reason)) throw one.reason
    tell(awayText(cells[at]![0], one.reason))
  }
  return {
    runners: answers.flatMap(({ runners }) => runners),
    poolsOnDemand: answers.flatMap(({ poolsOnDemand }) => poolsOnDemand),
    isWhole: answers.length === cells.length,
  }
}

/** Asks the cells one after the other, until one knows it; `tell` hears of those that do not answer. */
async function askedInOne(
  target: Target,
  tell: (text: string) => void,
  ask: (ofCell: Client<typeof RunnerOperatorService>) => Promise<unknown>,
): Promise<unknown> {
  const cells = [...target.inCells(RunnerOperatorService)]
  const failures: Failure[] = []
  for (const [cell, ofCell] of cells) {
    try {
      return await ask(ofCell)
    } catch (error) {
      if (!isAway(error) && !(error instanceof Failure && error.kind === 'not_found')) throw error
      if (isAway(error) && cells.length > 1) tell(awayText(cell, error))
      failures.push(error)
    }
  }
  // Where one does not answer it may be there.
  throw failures.find(isAway) ?? failures[0]!
}

function isAway(error: unknown): error is Failure {
  return error instanceof Failure && (error.kind === 'unavailable' || error.kind === 'deadline_exceeded')
}

function awayText(cell: string, { message }: Failure): string {
  return `The cell ${cellName(cell)} does not answer: ${message}`
}

function runnerRecord(runner: Runner) {
  const { id, name, version, pool, labels, poolTokenId, oneTeam, team, remedy, slots, running, replicas, drainAsked } =
    runner
  return {
    ...{ id, name, version, pool, languages: runner.languages.map((each) => Language[each]), labels, oneTeam },
    ...(poolTokenId !== '' && { poolTokenId }),
    ...(team !== '' && { team }),
    ...(remedy !== '' && { remedy }),
    ...{ slots, running, free: drainAsked ? 0 : Math.max(0, slots - running) },
    connectedAt: time(runner.connectedAt),
    ...{
      replicas,
      draining: drainAsked,
      idleSeconds: Number(runner.idleMs) / 1000,
      silentSeconds: Number(runner.silentMs) / 1000,
    },
    state: stateOf(runner),
  }
}

/** Runners that were made and have not come, and one without a name where none is made. */
function startingRecords({ pool, starting, whyNone }: PoolOnDemand) {
  // It takes no run yet, as whoever adds up slots finds.
  const none = { pool, slots: 0, running: 0, free: 0, state: 'starting' }
  const there = starting.map(({ runnerName, madeAt, why }) => ({
    ...none,
    name: runnerName,
    madeAt: time(madeAt),
    why,
  }))
  return whyNone === '' ? there : [...there, { ...none, name: undefined, madeAt: undefined, why: whyNone }]
}

/** What a runner does, or why it does nothing. */
function stateOf({ drainAsked, draining, running, slots, oneTeam, team, silentMs: silent, replicas }: Runner): string {
  if (silent > silentMs) return `silent for ${Math.round(Number(silent) / 1000)} s: its runs are lost if it stays away`
  if (drainAsked && !draining) return 'is asked to drain'
  if (draining) return `drains: ${running === 0 ? 'no run is left' : `waits for runs: ${running}`}`
  if (running >= slots) return 'full: further runs wait'
  if (running > 0) return 'runs'
  if (replicas.length === 0) return 'starts'
  return oneTeam && team === '' ? 'waits for the first run of some team' : 'waits for runs'
}

function teamText({ oneTeam, team }: { oneTeam: boolean; team?: string }): string {
  if (!oneTeam) return 'all'
  return team ?? 'none yet'
}
