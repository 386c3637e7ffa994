import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { TeamService } from '@automation/contract/catalog/v1/team'
import { TeamMoveService } from '@automation/contract/execution/v1/team_move'
import { Failure, invalid } from '@automation/errors'
import type { Client } from '@automation/rpc'
import type { Answer } from './answer.ts'
import { readTeam } from './find-team.ts'
import { operatorContext } from './operator-context.ts'
import type { Target } from './target.ts'

/** What the first cell, which has no name of its own, is called by operators. */
export const firstCell = 'first'

const lookMs = 300
/** For so long a cell that accepts nothing any more may take until all of its replicas know. */
const closedMs = 20_000
/** All callers know of a move's end by then. */
const knownMs = 5000

type Cell = Client<typeof TeamMoveService>

/** The cell that an operator calls so. Failure: invalid, at this path, where this command can't reach it. */
export function cellCalled(target: Target, name: string, path: string): string {
  const cell = name === firstCell ? '' : name
  if (cell === '' || target.inCells(TeamMoveService).has(cell)) return cell
  throw invalid(path, `must be a cell of SERVICE_ADDRESSES, which names no execution@${cell}`)
}

interface CellMoveOptions {
  to: string
  /** For so long the team's runs may go on, in seconds. */
  waitS: number
  tell(text: string): void
}

/**
 * Moves the executions of a team to another cell. Once its history is copied, what runs goes on where it is and what is
 * accepted waits; for some seconds then, while the last rows are copied, callers wait or are told to come again. Failures:
 * team_not_found, team_has_pools, sums_not_filled; those of CellMove.
 */
export async function moveToCell(target: Target, team: string, { to, waitS, tell }: CellMoveOptions): Promise<Answer> {
  const cells = target.inCells(TeamMoveService)
  const { cell, movingTo } = await readTeam(target, team)
  const into = cellOf(cells, to)
  if (cell !== to) {
    const from = cellOf(cells, cell)
    if (movingTo !== undefined) await endCutOff(target, team, { cell, from })
    await cleared(into, team)
    await new CellMove(target, team, { from, into, tell }).run({ to, waitS })
  }
  await into.joinTeam({ team }, operatorContext())
  tell('Waiting until all callers know.')
  await pause(knownMs)
  for (const [name, other] of cells) if (name !== to) await cleared(other, team)
  return answer(team, to, `The executions of ${team} are in the cell ${cellName(to)}.`)
}

/** Leaves a team where it is whose move was cut off. Failures: team_not_found. */
export async function giveUpMove(target: Target, team: string): Promise<Answer> {
  const cells = target.inCells(TeamMoveService)
  const { cell, movingTo } = await readTeam(target, team)
  if (movingTo !== undefined) await endCutOff(target, team, { cell, from: cellOf(cells, cell) })
  for (const [name, other] of cells) if (name !== cell) await cleared(other, team)
  return answer(team, cell, `The executions of ${team} are in the cell ${cellName(cell)}.`)
}

/** Ends the move of a team that is in this cell, whichever command has begun it: that can't end it any more. */
async function endCutOff(target: Target, team: string, { cell, from }: { cell: string; from: Cell }): Promise<void> {
  const after = await target.client(TeamService).endTeamMove({ team }, operatorContext())
  if (after.cell !== cell)
    throw new Failure('failed_precondition', 'team_moved', `Another command has moved ${team}: do it again`)
  await from.joinTeam({ team }, operatorContext())
}

interface CopyOptions {
  mark: string
  changed: boolean
  beforeMark?: string
}

/** The copy of a team, and how it leaves its cell. */
class CellMove {
  readonly #target: Target
  readonly #team: string
  readonly #from: Cell
  readonly #into: Cell
  readonly #tell: (text: string) => void
  readonly #move = randomUUID()
  #tablesOfExecutions: string[] = []

  constructor(
    target: Target,
    team: string,
    { from, into, tell }: { from: Cell; into: Cell; tell(text: string): void },
  ) {
    this.#target = target
    this.#team = team
    this.#from = from
    this.#into = into
    this.#tell = tell
  }

  /**
   * Until the catalog has the team in the new cell, which has all of it. Failures: team_busy, team_copy_differs and others,
   * after which the team is where it was; team_moving and team_move_ended, of another command.
   */
  async run({ to, waitS }: { to: string; waitS: number }): Promise<void> {
    const team = this.#team
    const teams = this.#target.client(TeamService)
    const begun = await this.#from.beginCopy({ team }, operatorContext())
    this.#tablesOfExecutions = begun.tablesOfExecutions
    this.#tell(`Executions that had ended: ${await this.#copyExecutions({ mark: begun.mark, changed: false })}.`)
    // Few are left then for the time in which nothing is accepted.
    const { mark, otherTables } = await this.#from.beginCopy({ team }, operatorContext())
    await this.#copyExecutions({ mark: begun.mark, changed: true, beforeMark: mark })
    for (const table of otherTables) await this.#copyRows({ table, mark, changed: false })
    await teams.beginTeamMove({ team, cell: to, move: this.#move }, operatorContext())
    try {
      await this.#leave(to, waitS)
      this.#tell(`Executions of late: ${await this.#copyExecutions({ mark, changed: true })}.`)
      for (const table of otherTables) await this.#copyRows({ table, mark, changed: true })
      await this.#compare(mark)
      await teams.endTeamMove({ team, move: this.#move, moved: true }, operatorContext())
    } catch (error) {
      // Fails where another command has ended the move: then that says where the team is.
      await teams.endTeamMove({ team, move: this.#move }, operatorContext())
      await this.#from.joinTeam({ team }, operatorContext())
      throw error
    }
  }

  /** Until nothing of the team runs and its cell accepts nothing any more. */
  async #leave(to: string, waitS: number): Promise<void> {
    let [said, isClosed] = ['', false]
    for (let untilMs = Date.now() + waitS * 1000; ;) {
      const stay = await this.#from.leaveTeam({ team: this.#team, cell: to }, operatorContext())
      if (stay.left) return
      const { running, untoldEvents, closed } = stay
      if (closed && !isClosed) untilMs = Date.now() + closedMs
      isClosed = closed
      if (Date.now() > untilMs)
        throw new Failure(
          'failed_precondition',
          'team_busy',
          `The team has ${running} runs that do not end, and ${untoldEvents} events that are not delivered: all is as it was. Wait longer, or kill them`,
        )
      const words = running > 0 ? `Runs that are not over: ${running}.` : 'Nothing runs; the cell is told.'
      if (words !== said) this.#tell(words)
      said = words
      await pause(lookMs)
    }
  }

  async #compare(mark: string): Promise<void> {
    const team = this.#team
    const sums = [this.#from, this.#into].map((cell) => cell.sumUpTeam({ team, mark }, operatorContext()))
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

  async #copyExecutions({ mark, changed, beforeMark }: CopyOptions): Promise<number> {
    const team = this.#team
    let copied = 0
    for (let after = ''; ;) {
      const page = await this.#from.readExecutions({ team, mark, changed, beforeMark, after }, operatorContext())
      const { rows, count, executionIds } = page
      if (count === 0) return copied
      await this.#into.writeRows({ team, table: 'executions', rows, executionIds }, operatorContext())
      for (const table of this.#tablesOfExecutions) await this.#copyRows({ table, executionIds, mark, changed })
      copied += count
      after = executionIds.at(-1)!
    }
  }

  async #copyRows(which: { table: string; executionIds?: string[]; mark: string; changed: boolean }): Promise<void> {
    const team = this.#team
    const { table } = which
    for (let after = ''; ;) {
      const { rows, count, last } = await this.#from.readRows({ team, ...which, after }, operatorContext())
      if (count === 0) return
      await this.#into.writeRows({ team, table, rows }, operatorContext())
      after = last
    }
  }
}

/** Failure: invalid `/to` where this command can't reach it. */
function cellOf(cells: ReadonlyMap<string, Cell>, name: string): Cell {
  const cell = cells.get(name)
  if (cell === undefined) throw invalid('/to', `SERVICE_ADDRESSES must name execution@${name}, where the team is`)
  return cell
}

/** Removes what a cell has of a team that is not there. Failure team_in_cell where it is. */
async function cleared(cell: Cell, team: string): Promise<void> {
  while (!(await cell.clearTeam({ team }, operatorContext())).done);
}

/** Of a cell, as commands are told it. */
export function cellName(cell: string): string {
  return cell || firstCell
}

function answer(team: string, cell: string, text: string): Answer {
  return { json: { team, cell: cellName(cell) }, text }
}
