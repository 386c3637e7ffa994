import { setTimeout as pause } from 'node:timers/promises'
import { TeamRemovalService as ExecutionRemoval } from '@automation/contract/execution/v1/team_removal'
import { TeamRemovalService as SandboxRemoval } from '@automation/contract/sandbox/v1/team_removal'
import { TeamService } from '@automation/contract/catalog/v1/team'
import { operatorContext } from './operator-context.ts'
import type { Answer } from './answer.ts'
import type { Target } from './target.ts'

/** Within so long, all replicas know of a suspension. */
export const knownWithinMs = 5000

/** What of a team is stopped. */
export interface Stop {
  /** Also runs that wait to begin. */
  waiting: boolean
}

/** Nothing new runs for the team; with `kill`, what runs is killed. */
export async function suspendTeam(
  target: Target,
  team: string,
  { reason, kill }: { reason: string; kill: boolean },
): Promise<Answer> {
  await target.client(TeamService).suspendTeam({ team, reason }, operatorContext())
  if (!kill) {
    const text = `Team ${team} is suspended: nothing new runs for it, within 5 seconds. What runs goes on; --kill ends it.`
    return { json: { team, suspended: true, reason }, text }
  }
  // What was accepted just before begins meanwhile.
  await pause(knownWithinMs)
  const { runs, sandboxes } = await stopTeam(target, team, { waiting: false })
  const ended = `${counted(runs, 'run')} and ${counted(sandboxes, 'sandbox', 'sandboxes')}`
  return {
    json: { team, suspended: true, reason, killed: { runs, sandboxes } },
    text: `Team ${team} is suspended: nothing new runs for it, and ${ended} were killed.`,
  }
}

/** What waits in the team's queue begins. */
export async function resumeTeam(target: Target, team: string): Promise<Answer> {
  await target.client(TeamService).resumeTeam({ team }, operatorContext())
  return { json: { team, suspended: false }, text: `Team ${team} runs again, within 5 seconds.` }
}

/** Kills what runs of a team, until there is nothing; gives how many there were. */
export async function stopTeam(
  target: Target,
  team: string,
  { waiting }: Stop,
): Promise<{ runs: number; sandboxes: number }> {
  const executions = target.client(ExecutionRemoval)
  const runs = await untilDone(() => executions.stopTeam({ team, waiting }, operatorContext(team)))
  const sandbox = target.client(SandboxRemoval)
  const sandboxes = await untilDone(() => sandbox.stopTeam({ team, waiting }, operatorContext()))
  return { runs, sandboxes }
}

async function untilDone(step: () => Promise<{ ended: number; done: boolean }>): Promise<number> {
  for (let ended = 0; ;) {
    const answer = await step()
    ended += answer.ended
    if (answer.done) return ended
  }
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
