import type { Command } from 'commander'
import { readTag } from '../options/tag.ts'
import { examples } from '../output/examples.ts'
import { applyPlan } from '../project/apply-plan.ts'
import { inParallel } from '../project/in-parallel.ts'
import { compareProject, openProject, type OpenProject } from '../project/open-project.ts'
import type { PlanItem } from '../project/plan.ts'
import { itemText, summary } from '../project/plan-text.ts'
import { aliasLine, moveAlias, publish, readOwners, readVersion } from '../project/published.ts'
import { hasContent, type Owner } from '../project/release-rules.ts'
import { throwFailures } from '../project/push-plan.ts'
import type { ServerItem } from '../project/server-items.ts'
import { ExitError, exitCodes, requireYes, type Runtime } from '../runtime.ts'

/** `pas release`. */
export function register(program: Command, runtime: Runtime): void {
  const command = program
    .command('release')
    .argument('<tag>', 'the tag of the new versions', readTag)
    .description(
      `Publish the processes and modules of this repository that have changed since the last release, all under one tag.

With --alias, their alias leads to them once all are published. Files and server must be the same: push first. A release that was cut goes on when it is repeated.`,
    )
    .option(
      '--alias <name>',
      'the alias that is moved, such as live; what has changed since its version is published',
      readTag,
    )
    .option('--comment <text>', 'is kept with the versions')
    .action(release)
  examples(command, 'pas release v12', 'pas release v12 --alias live --yes')

  async function release(tag: string, { alias, comment }: { alias?: string; comment?: string }): Promise<void> {
    const project = await openProject(runtime)
    const owners = await readOwners(project.client, await pushedItems(project), alias)
    const changed = await inParallel(8, owners, (owner) => linesOf(owner, tag, alias))
    const lines = changed.flat()
    for (const line of lines) runtime.out.say(itemText(line))
    runtime.out.say(`${summary(lines)} (${project.target.team} at ${project.target.url})`)
    if (lines.length === 0) return runtime.out.line({ type: 'end', done: 0 })
    await requireYes(runtime, 'Publish?', 'Nothing was published.')
    const ofKey = new Map(owners.map((owner) => [owner.key, owner]))
    const text =
      comment ?? `release ${tag}${project.repository?.head ? ` of ${project.repository.head.slice(0, 12)}` : ''}`
    const applied = await applyPlan(lines, async (line) => {
      const owner = ofKey.get(ownerKey(line))!
      if (line.kind === 'version') await publish(owner, tag, text)
      else await moveAlias(owner, alias!, line)
      runtime.out.line({ type: 'change', action: line.action, key: line.key, tag: line.tag }, `done  ${itemText(line)}`)
    })
    await throwFailures(runtime, applied, 'Release again to go on.')
    runtime.out.line({ type: 'end', done: applied.done.length })
  }
}

/** What the files and the server both have; throws where they differ. */
async function pushedItems(project: OpenProject): Promise<ServerItem[]> {
  const { comparisons } = await compareProject(project, (key) => /^(?:process|module)\//.test(key))
  const own = comparisons.filter(({ local }) => local !== undefined)
  const differing = own.filter(({ verdict }) => verdict !== 'same').map(({ key }) => key)
  if (differing.length > 0)
    throw new ExitError(exitCodes.refused, `Files and server differ in ${differing.join(', ')}: push or pull first.`)
  return own.map(({ remote }) => remote!)
}

async function linesOf(owner: Owner, tag: string, alias: string | undefined): Promise<PlanItem[]> {
  const { key, versionOwner, content, versions } = owner
  const version: PlanItem = { action: 'publish', kind: 'version', key: `version/${key}`, tag }
  const tagged = versions.some((each) => each.tag === tag) ? await readVersion(versionOwner, tag) : undefined
  if (tagged && !hasContent(tagged, content))
    throw new ExitError(exitCodes.conflict, `${key} has a version ${tag} with another source: choose another tag`)
  const since = alias !== undefined && owner.alias ? owner.alias.versionId : versions[0]?.id
  const last = tagged ?? (since === undefined ? undefined : await readVersion(versionOwner, since))
  const isPublished = last !== undefined && hasContent(last, content)
  const target = isPublished ? last.tag : tag
  const moves = alias !== undefined && !(isPublished && owner.alias?.versionId === last.id)
  return [...(isPublished ? [] : [version]), ...(moves ? [await aliasLine(owner, alias, target)] : [])]
}

/** The key of what a line is of: `process/greeting` in `alias/process/greeting/live`. */
export function ownerKey({ key }: PlanItem): string {
  return key.split('/').slice(1, 3).join('/')
}
