import type { Command } from 'commander'
import { examples } from '../output/examples.ts'
import { applyPlan } from '../project/apply-plan.ts'
import { inParallel } from '../project/in-parallel.ts'
import type { PlanItem } from '../project/plan.ts'
import { itemText, summary } from '../project/plan-text.ts'
import { aliasLine, moveAlias, readOwners } from '../project/published.ts'
import { throwFailures } from '../project/push-plan.ts'
import { readTeam } from '../project/read-team.ts'
import { currentVersion, movesBack, movesTo, type Move } from '../project/release-rules.ts'
import { ExitError, exitCodes, requireYes, type Runtime } from '../runtime.ts'
import { ownerKey } from './release.ts'

/** `pas rollback`. */
export function register(program: Command, runtime: Runtime): void {
  const command = program
    .command('rollback')
    .argument('<alias>', 'such as live')
    .argument('[tag]', 'the release to go back to; where absent, the one that the alias led to before')
    .description(
      `Have an alias of all processes and modules lead to the versions of an earlier release.

Without a tag, what the last release has changed goes to the version that its alias led to before, among those that are older; a release that the alias never led to is left out. Where there is none, it ends with 1.

With a tag, what that release had not changed goes to its newest version of that time. Sources that are not published stay as they are.`,
    )
    .action(rollback)
  examples(command, 'pas rollback live', 'pas rollback live v11 --yes')

  async function rollback(alias: string, tag?: string): Promise<void> {
    const client = await runtime.client()
    const server = await readTeam(client, new Map())
    const items = [...server.values()].filter(({ item }) => item.kind === 'process' || item.kind === 'module')
    const owners = await readOwners(client, items, alias)
    if (owners.every((owner) => owner.alias === undefined))
      throw new ExitError(exitCodes.refused, `Nothing has an alias ${alias}.`)
    const { moves, guessed } = tag === undefined ? movesBack(owners) : { moves: movesTo(tag, owners), guessed: [] }
    if (moves === undefined) throw new ExitError(exitCodes.refused, `Nothing has a version ${tag}.`)
    const withVersion = moves.filter((move): move is Move & { to: NonNullable<Move['to']> } => move.to !== undefined)
    if (tag === undefined && withVersion.length === 0)
      throw new ExitError(exitCodes.refused, `There is nothing to roll back to: ${alias} led to no earlier version.`)
    for (const { owner } of moves.filter(({ to }) => to === undefined))
      runtime.out.say(`kept  ${owner.key}: it has no version of ${tag === undefined ? 'before' : 'that time'}`)
    for (const { key } of guessed)
      runtime.out.say(`The server does not say where ${alias} of ${key} led before: the version before is taken.`)
    const ofKey = new Map(owners.map((owner) => [owner.key, owner]))
    const textOf = (line: PlanItem) =>
      itemText({ ...line, tag: `${currentVersion(ofKey.get(ownerKey(line))!)?.tag} -> ${line.tag}` })
    const lines = await inParallel(8, withVersion, ({ owner, to }) => aliasLine(owner, alias, to.tag))
    for (const line of lines) runtime.out.say(textOf(line))
    runtime.out.say(summary(lines))
    if (lines.length > 0) await requireYes(runtime, 'Move?', 'Nothing was moved.')
    const applied = await applyPlan(lines, async (line) => {
      await moveAlias(ofKey.get(ownerKey(line))!, alias, line)
      runtime.out.line({ type: 'change', action: line.action, key: line.key, tag: line.tag }, `done  ${textOf(line)}`)
    })
    await throwFailures(runtime, applied, 'Roll back again to go on.')
    runtime.out.line({ type: 'end', done: applied.done.length })
  }
}
