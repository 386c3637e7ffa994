import { Status } from '@automation/contract/execution/v1/execution'
import { mendingTeam } from './simulated-catalog.ts'
import type { Database } from './database.ts'
import type { Ledger } from './ledger.ts'

interface Row {
  id: string
  team: string
  status: Status
  scheduleId: string | null
  events: { sequence: number; status: Status; at: string }[]
}

const next: Partial<Record<Status, readonly Status[]>> = {
  [Status.CREATED]: [Status.RUNNING, Status.QUEUED, Status.REJECTED, Status.KILLED, Status.ERROR],
  [Status.QUEUED]: [Status.DEQUEUED, Status.KILLED, Status.REJECTED, Status.ERROR],
  [Status.DEQUEUED]: [Status.RUNNING, Status.QUEUED, Status.KILLED, Status.ERROR],
  [Status.RUNNING]: [Status.FINISHED, Status.ERROR, Status.KILLED],
}

/** What does not hold once the world has come to rest, in words. */
export async function brokenPromises(database: Database, ledger: Ledger): Promise<string[]> {
  const { rows } = await database.query<Row>(
    `SELECT e.id, e.team, e.status, e.schedule_id AS "scheduleId",
            (SELECT json_agg(json_build_object('sequence', t.sequence, 'status', t.status, 'at', t.at) ORDER BY t.sequence)
               FROM execution.timeline_events t WHERE t.execution_id = e.id) AS events
       FROM execution.executions e ORDER BY e.id`,
  )
  const known = new Set(rows.map(({ id }) => id))
  const lost = [...ledger.accepted].filter((id) => !known.has(id)).map((id) => `I4 ${id} was accepted and is not there`)
  return [
    ...ledger.wrong,
    ...(ledger.accepted.size === 0 ? ['nothing was accepted in all the time'] : []),
    ...lost,
    ...rows.flatMap((row) => [...timelineFaults(row), ...startFaults(row, ledger), ...answerFaults(row, ledger)]),
    ...recordFaults(known, ledger),
    ...(await handlerFaults(database, rows)),
    ...(await slotFaults(database)),
    ...(await firingFaults(database)),
    ...overlaps(rows, await lonelySchedules(database)),
  ]
}

function* timelineFaults({ id, status, events }: Row): Generator<string> {
  if (status < Status.FINISHED) yield `I1 ${id} is ${Status[status]} though all is at rest`
  if (events.some(({ sequence }, index) => sequence !== index + 1)) yield `I5 the events of ${id} have holes`
  if (events.at(-1)?.status !== status) yield `I5 the last event of ${id} is not its status`
  if (events[0]?.status !== Status.CREATED) yield `I2 ${id} begins with ${Status[events[0]?.status ?? 0]}`
  for (const [index, { status: from }] of events.slice(0, -1).entries()) {
    const to = events[index + 1]!.status
    if (next[from]?.includes(to) !== true) yield `I2 ${id}: ${Status[from]} → ${Status[to]}`
  }
}

function* startFaults({ id, status, events }: Row, ledger: Ledger): Generator<string> {
  const starts = ledger.starts.get(id) ?? 0
  const hasRun = events.some((event) => event.status === Status.RUNNING)
  if (!hasRun && starts > 0) yield `I3 ${id} was never RUNNING, and its code began`
  if (status === Status.FINISHED && !ledger.finished.has(id)) yield `I3 ${id} is FINISHED, and its code never ended`
  if (ledger.running.has(id)) yield `I7 the code of ${id} still runs on ${ledger.running.get(id)}`
}

function* answerFaults({ id, status, events }: Row, ledger: Ledger): Generator<string> {
  const answered = ledger.answered.get(id)
  if (answered !== undefined && answered !== Status[status])
    yield `I1 a caller was told ${answered} of ${id}, which is ${Status[status]}`
  const heard = ledger.events.get(id) ?? []
  const words = (list: { status: Status }[]) => list.map((event) => Status[event.status]).join(' ')
  if (words(heard) !== words(events)) yield `I5 of ${id} was told ${words(heard)}, and it was ${words(events)}`
}

function* recordFaults(known: Set<string>, { recorded }: Ledger): Generator<string> {
  for (const id of known) if (!recorded.has(id)) yield `there is no record of who has started ${id}`
  for (const id of recorded) if (!known.has(id)) yield `there is a record of ${id}, which is not there`
}

/** A failed run of a team that has an error handler has had that once; no other run has, and no handler itself. */
async function handlerFaults(database: Database, rows: Row[]): Promise<string[]> {
  const { rows: started } = await database.query<{ failed: string; handler: string }>(
    `SELECT key AS failed, execution_id AS handler FROM execution.start_keys WHERE scope = 'error handler'`,
  )
  const handlers = new Set(started.map(({ handler }) => handler))
  const handled = new Set(started.map(({ failed }) => failed))
  const faults: string[] = []
  for (const { id, team, status } of rows) {
    const wants = team === mendingTeam && status === Status.ERROR && !handlers.has(id)
    if (wants !== handled.has(id)) faults.push(`${id} has ${wants ? 'no' : 'an'} error handler's run`)
  }
  const known = new Set(rows.map(({ id }) => id))
  const lost = [...handlers].filter((id) => !known.has(id))
  return [...faults, ...lost.map((id) => `the error handler's run ${id} is not there`)]
}

async function slotFaults(database: Database): Promise<string[]> {
  const { rows } = await database.query<{ team: string }>(
    `SELECT s.team FROM execution.team_slots s LEFT JOIN execution.executions e ON e.team = s.team
      GROUP BY s.team, s.running, s.wanted, s.queued
     HAVING s.running <> count(e.id) FILTER (WHERE e.status = 4 AND e.slot = 1)
         OR s.wanted <> count(e.id) FILTER (WHERE e.status = 4 AND e.slot = 2)
         OR s.queued <> count(e.id) FILTER (WHERE e.status IN (1, 2))`,
  )
  return rows.map(({ team }) => `the slots of ${team} are counted wrongly`)
}

async function firingFaults(database: Database): Promise<string[]> {
  const { rows: open } = await database.query<{ id: string; nominal: string; explanation: string }>(
    `SELECT schedule_id AS id, nominal_at::text AS nominal, explanation FROM scheduler.firings WHERE state < 3`,
  )
  const { rows: twice } = await database.query<{ id: string; runs: number; firings: number }>(
    `SELECT e.schedule_id AS id, count(*)::integer AS runs,
            (SELECT count(*)::integer FROM scheduler.firings f WHERE f.schedule_id = e.schedule_id) AS firings
       FROM execution.executions e JOIN scheduler.schedules s ON s.id = e.schedule_id GROUP BY e.schedule_id`,
  )
  const { rows: nowhere } = await database.query<{ id: string }>(
    `SELECT f.execution_id AS id FROM scheduler.firings f LEFT JOIN execution.executions e ON e.id = f.execution_id
      WHERE f.state = 3 AND e.id IS NULL`,
  )
  return [
    ...open.map(({ id, nominal, explanation }) => `the firing ${nominal} of ${id} is not decided: ${explanation}`),
    ...twice
      .filter(({ runs, firings }) => runs > firings)
      .map(({ id, runs, firings }) => `I8 the schedule ${id} has ${runs} runs for ${firings} times`),
    ...nowhere.map(({ id }) => `I8 a firing has started ${id}, which is not there`),
  ]
}

/** Schedules whose runs may not be beside each other. */
async function lonelySchedules(database: Database): Promise<Set<string>> {
  const { rows } = await database.query<{ id: string }>('SELECT id FROM scheduler.schedules WHERE NOT allow_concurrent')
  return new Set(rows.map(({ id }) => id))
}

function overlaps(rows: Row[], lonely: Set<string>): string[] {
  const faults: string[] = []
  const bySchedule = Map.groupBy(
    rows.filter(({ scheduleId, status }) => scheduleId !== null && status !== Status.REJECTED),
    ({ scheduleId }) => scheduleId!,
  )
  for (const [id, runs] of bySchedule) {
    if (!lonely.has(id)) continue
    for (const [index, run] of runs.entries()) {
      const before = runs[index - 1]
      if (before !== undefined && Date.parse(run.events[0]!.at) < Date.parse(before.events.at(-1)!.at))
        faults.push(`the run ${run.id} of ${id} began before ${before.id} had ended`)
    }
  }
  return faults
}
