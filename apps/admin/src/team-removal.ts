import { setTimeout as pause } from 'node:timers/promises'
import { TeamRemovalService as CatalogRemoval } from '@automation/contract/catalog/v1/team_removal'
import { TeamRemovalService as ExecutionRemoval } from '@automation/contract/execution/v1/team_removal'
import { TeamRemovalService as SandboxRemoval } from '@automation/contract/sandbox/v1/team_removal'
import { TeamRemovalService as ScheduleRemoval } from '@automation/contract/schedule/v1/team_removal'
import { TeamRemovalService as StorageRemoval } from '@automation/contract/storage/v1/team_removal'
import { invalid } from '@automation/errors'
import type { Client } from '@automation/rpc'
import { operatorContext } from './operator-context.ts'
import type { Answer } from './answer.ts'
import { cellCalled, firstCell } from './cell-move.ts'
import { findTeam } from './find-team.ts'
import type { Target } from './target.ts'
import { knownWithinMs, stopTeam } from './team-suspension.ts'

const againMs = 500
const keysAtOnce = 1000

/**
 * Removes a team with all that it has, audit records apart; `tell` hears of each step. Cut off, it is done again from the
 * start: what is gone already takes no time. Failures: invalid `/confirm`; team_not_found, team_in_use.
 */
export async function purgeTeam(
  target: Target,
  team: string,
  { confirm, tell }: { confirm: string; tell(text: string): void },
): Promise<Answer> {
  if (confirm !== team) throw invalid('/confirm', `must be the team's slug: --confirm ${team}`)
  const catalog = target.client(CatalogRemoval)
  const found = await findTeam(target, team)
  if (found !== undefined) cellCalled(target, found.cell || firstCell, '/team')
  const isThere = found !== undefined
  // Where it is not, a removal may have been cut off at its very end; a slug that never was a team's has nothing, either.
  if (isThere) await catalog.beginRemoval({ team }, operatorContext())
  tell(`Team ${team} is suspended for good: none of its calls is answered any more.`)
  await pause(knownWithinMs)
  const { runs, sandboxes } = await stopTeam(target, team, { waiting: true })
  tell(`Killed: runs ${runs}, sandboxes ${sandboxes}.`)
  const removals = {
    sandboxes: () => target.client(SandboxRemoval).removeTeam({ team }, operatorContext()),
    schedules: () => target.client(ScheduleRemoval).removeTeam({ team }, operatorContext()),
    executions: () => inAllCells(target, (ofCell) => ofCell.removeTeam({ team }, operatorContext())),
    storage: () => target.client(StorageRemoval).removeTeam({ team }, operatorContext()),
  }
  const removed: Record<string, number> = {}
  for (const [name, step] of Object.entries(removals)) removed[name] = await untilGone(name, step, tell)
  if (isThere) {
    const { keys } = await catalog.listSetKeys({ team }, operatorContext())
    for (let at = 0; at < keys.length; at += keysAtOnce)
      for (const ofCell of target.inCells(ExecutionRemoval).values())
        await ofCell.removeSets({ keys: keys.slice(at, at + keysAtOnce) }, operatorContext())
    tell(`Told the runners to remove sets of packages: ${keys.length}.`)
    removed['catalog'] = await untilGone('catalog', () => catalog.removeTeam({ team }, operatorContext()), tell)
  }
  // What was on its way meanwhile.
  await stopTeam(target, team, { waiting: true })
  for (const [name, step] of Object.entries(removals)) await untilGone(name, step, () => undefined)
  await catalog.finishRemoval({ team }, operatorContext())
  tell('Removed: its API tokens, its sessions, and the team.')
  return {
    json: { team, killed: { runs, sandboxes }, removed },
    text: `Team ${team} is removed. Its audit records are kept.`,
  }
}

/** Also where a team was, or was about to be. */
async function inAllCells(
  target: Target,
  step: (ofCell: Client<typeof ExecutionRemoval>) => Promise<{ removed: number; done: boolean }>,
): Promise<{ removed: number; done: boolean }> {
  const answers = await Promise.all([...target.inCells(ExecutionRemoval).values()].map(step))
  return {
    removed: answers.reduce((sum, { removed }) => sum + removed, 0),
    done: answers.every(({ done }) => done),
  }
}

/** Repeats a step until nothing is left; gives how many rows and objects it has removed. */
async function untilGone(
  name: string,
  step: () => Promise<{ removed: number; done: boolean }>,
  tell: (text: string) => void,
): Promise<number> {
  let waits = false
  for (let removed = 0; ;) {
    const answer = await step()
    removed += answer.removed
    if (answer.done) {
      tell(`Removed: ${name}, ${removed} rows and objects.`)
      return removed
    }
    if (answer.removed > 0) continue
    if (!waits) tell(`Waits in ${name} for what is still to be told of the team, such as audit records and events.`)
    waits = true
    await pause(againMs)
  }
}
