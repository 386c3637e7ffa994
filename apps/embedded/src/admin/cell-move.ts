import { setTimeout as pause } from 'node:timers/promises'
import { TeamService, type Team } from '@automation/contract/catalog/v1/team'
import { TeamMoveService } from '@automation/contract/execution/v1/team_move'
import { Failure, invalid, notFound } from '@automation/errors'
import type { Client } from '@automation/rpc'
import type { Answer } from './answer.ts'
import { operatorContext } from './operator-context.ts'
import type { Target } from './target.ts'

/** What the first cell, which has no name of its own, is called by operators. */
export const firstCell = 'first'

const lookMs = 300
/** All callers know of a move's end by then. */
const knownMs = 5000

type Cell = Client<typeof TeamMoveService>

/** The cell that an operator calls so. Failure: invalid, at this path, where this command can't reach it. */
export function cellCalled(target: Target, name: string, path: string): string {
  const cell = name === firstCell ? '' : name
  if (cell === '' || target.inCells(TeamMoveService).has(cell)) return cell
  throw invalid(path, `must be a cell of SERVICE_ADDRESSES, which names no execution@${cell}`)
}

export interface CellMoveOptions {
  to: string
  /** For so long the team's runs may go on, in seconds. */
  waitS: number
  tell(text: string): void
}

/**
 * Moves the executions of a team to another cell. What runs goes on where it is, what is accepted meanwhile waits, and for
 * some seconds, while the last rows are copied, callers wait or are told to come again. Failures: team_not_found,
 * team_has_pools; team_busy where runs do not end in time and team_copy_differs, after which all is as it was.
 */
export async function moveToCell(target: Target, team: string, { to, waitS, tell }: CellMoveOptions): Promise<Answer> {
  const cells = target.inCells(TeamMoveService)
  const { cell, movingTo } = await readTeam(target, team)
  if (movingTo === undefined && cell === to) {
    await clearOthers(cells, team, to)
    return answer(team, to, `The executions of ${team} are in the cell ${nameOf(to)}.`)
  }
  const [from, into] = [cells.get(cell), cells.get(to)]
  if (from === undefined) throw invalid('/to', `SERVICE_ADDRESSES must name execution@${cell}, where the team is`)
  if (into === undefined) throw invalid('/to', `SERVICE_ADDRESSES must name execution@${to}`)
  await target.client(TeamService).beginTeamMove({ team, cell: to }, operatorContext())
  if (await cleared(into, team, { unlessThere: true })) {
    try {
      await new CellMove(team, { from, into, tell }).run(to, waitS)
    } catch (error) {
      await from.joinTeam({ team }, operatorContext())
      await target.client(TeamService).endTeamMove({ team, moved: false }, operatorContext())
      await cleared(into, team)
      throw error
    }
  }
  await into.joinTeam({ team }, operatorContext())
  await target.client(TeamService).endTeamMove({ team, moved: true }, operatorContext())
  tell('Waiting until all callers know.')
  await pause(knownMs)
  await clearOthers(cells, team, to)
  return answer(team, to, `The executions of ${team} have moved to the cell ${nameOf(to)}.`)
}

/** Leaves a team where it is whose move was cut off. Failures: team_not_found; team_in_cell where the move is all but done. */
export async function giveUpMove(target: Target, team: string, to: string): Promise<Answer> {
  const cells = target.inCells(TeamMoveService)
  const { cell, movingTo } = await readTeam(target, team)
  if (movingTo !== to) throw invalid('/to', `The team does not move to the cell ${nameOf(to)}`)
  await cleared(cells.get(to), team)
  await cells.get(cell)?.joinTeam({ team }, operatorContext())
  await target.client(TeamService).endTeamMove({ team, moved: false }, operatorContext())
  return answer(team, cell, `The executions of ${team} stay in the cell ${nameOf(cell)}.`)
}

/** The copy of a team, and how it leaves its cell. */
class CellMove {
  readonly #team: string
  readonly #from: Cell
  readonly #into: Cell
  readonly #tell: (text: string) => void
  #tablesOfExecutions: string[] = []

  constructor(team: string, { from, into, tell }: { from: Cell; into: Cell; tell(text: string): void }) {
    this.#team = team
    this.#from = from
    this.#into = into
    this.#tell = tell
  }

  /** Until the cell that it leaves has nothing that is not in the new one. Failures: team_busy, team_copy_differs. */
  async run(to: string, waitS: number): Promise<void> {
    const team = this.#team
    // Where a move was cut off, the team goes on while its executions are copied.
    await this.#from.joinTeam({ team }, operatorContext())
    const begun = await this.#from.beginCopy({ team }, operatorContext())
    this.#tablesOfExecutions = begun.tablesOfExecutions
    this.#tell(`Executions that had ended: ${await this.#copyExecutions({ mark: begun.mark, changed: false })}.`)
    // Few are left then for the time in which nothing is accepted.
    const { mark, otherTables } = await this.#from.beginCopy({ team }, operatorContext())
    await this.#copyExecutions({ mark: begun.mark, changed: true })
    await this.#leave(to, waitS)
    this.#tell(`Executions of late: ${await this.#copyExecutions({ mark, changed: true })}.`)
    for (const table of otherTables) await this.#copyRows(table, [])
    await this.#compare()
  }

  /** Until nothing of the team runs and its cell accepts nothing any more. */
  async #leave(to: string, waitS: number): Promise<void> {
    let said = ''
    for (const untilMs = Date.now() + waitS * 1000; ;) {
      const stay = await this.#from.leaveTeam({ team: this.#team, cell: to }, operatorContext())
      if (stay.left) return
      const { running, untoldEvents } = stay
      if (Date.now() > untilMs)
        throw new Failure(
          'failed_precondition',
          'team_busy',
          `The team has ${running} runs that do not end, and ${untoldEvents} events that are not told: all is as it was. Wait longer, or kill them`,
        )
      const words = running > 0 ? `Runs that are not over: ${running}.` : 'Nothing runs; the cell is told.'
      if (words !== said) this.#tell(words)
      said = words
      await pause(lookMs)
    }
  }

  async #compare(): Promise<void> {
    const team = this.#team
    const sums = [this.#from, this.#into].map((cell) => cell.sumUpTeam({ team }, operatorContext()))
    const [here, there] = (await Promise.all(sums)).map(({ executions, events, living, others }) =>
      [executions, events, living, others].join(),
    )
    if (here === there) return
    const words = `executions, events, what waits and other rows are ${here} and ${there}`
    throw new Failure(
      'failed_precondition',
      'team_copy_differs',
      `The copy differs (${words}): all is as it was. Do it again`,
    )
  }

  async #copyExecutions({ mark, changed }: { mark: string; changed: boolean }): Promise<number> {
    const team = this.#team
    let copied = 0
    for (let after = ''; ;) {
      const page = await this.#from.readExecutions({ team, mark, changed, after }, operatorContext())
      const { rows, count, executionIds } = page
      if (count === 0) return copied
      await this.#into.writeRows({ team, table: 'executions', rows, executionIds }, operatorContext())
      for (const table of this.#tablesOfExecutions) await this.#copyRows(table, executionIds)
      copied += count
      after = executionIds.at(-1)!
    }
  }

  async #copyRows(table: string, executionIds: string[]): Promise<void> {
    const team = this.#team
    for (let after = ''; ;) {
      const { rows, count, last } = await this.#from.readRows({ team, table, executionIds, after }, operatorContext())
      if (count === 0) return
      await this.#into.writeRows({ team, table, rows }, operatorContext())
      after = last
    }
  }
}

async function readTeam(target: Target, team: string): Promise<Team> {
  const { teams } = await target.client(TeamService).listTeams({}, operatorContext())
  const found = teams.find(({ slug }) => slug === team)
  if (found === undefined) throw notFound('team')
  return found
}

/** What other cells have kept of it. */
async function clearOthers(cells: ReadonlyMap<string, Cell>, team: string, but: string): Promise<void> {
  for (const [name, cell] of cells) if (name !== but) await cleared(cell, team)
}

/** Removes what a cell has of a team that is not there; false where it is there, for who expects that. */
async function cleared(cell: Cell | undefined, team: string, { unlessThere = false } = {}): Promise<boolean> {
  try {
    while (cell !== undefined && !(await cell.clearTeam({ team }, operatorContext())).done);
    return true
  } catch (error) {
    if (unlessThere && error instanceof Failure && error.code === 'team_in_cell') return false
    throw error
  }
}

function nameOf(cell: string): string {
  return cell || firstCell
}

function answer(team: string, cell: string, text: string): Answer {
  return { json: { team, cell: nameOf(cell) }, text }
}
