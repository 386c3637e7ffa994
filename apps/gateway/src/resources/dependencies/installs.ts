import { InstallationStatus, type Install } from '@automation/contract/catalog/v1/dependency'
import { z } from '@hono/zod-openapi'
import { moment, textMap, uuid } from '../../rest/fields.ts'
import { samples } from '../../rest/samples.ts'
import { presentTime } from '../../rest/time.ts'

const status = z.enum(['INSTALLING', 'INSTALLED', 'FAILED'])

export const installRecord = z
  .object({
    id: uuid(),
    status,
    startedAt: moment(),
    endedAt: moment().optional(),
    requested: textMap().openapi({ description: 'Names and version specifiers' }),
    resolved: textMap().openapi({ description: 'Names and versions of what was installed, at most 1000' }),
    error: z.string().optional().openapi({ description: "The installer's last lines, where it failed" }),
    active: z.boolean().openapi({ description: 'Runs see its packages' }),
  })
  .openapi('DependencyInstall', {
    example: {
      id: samples.id,
      status: 'INSTALLED',
      startedAt: samples.at,
      endedAt: samples.later,
      requested: { ms: '^2.1.3' },
      resolved: { ms: '2.1.3' },
      active: true,
    },
  })

/** An install as JSON. */
export function presentInstall(install: Install): z.input<typeof installRecord> {
  const { id, startedAt, endedAt, requested, resolved, error, active } = install
  return {
    id,
    status: InstallationStatus[install.status] as z.input<typeof status>,
    startedAt: presentTime(startedAt),
    endedAt: endedAt && presentTime(endedAt),
    requested,
    resolved,
    error,
    active,
  }
}

export const installDiffRecord = z
  .object({
    added: textMap(),
    removed: textMap(),
    changed: z.record(z.string(), z.array(z.string()).min(2).max(2)).openapi({ description: 'From, to' }),
  })
  .openapi('DependencyInstallDiff', {
    example: { added: { nanoid: '5.1.5' }, removed: {}, changed: { ms: ['2.1.2', '2.1.3'] } },
  })

/** What another install has in place of what this one has, by resolved versions. */
export function installDiff(from: Install, to: Install): z.input<typeof installDiffRecord> {
  const [before, after] = [from.resolved, to.resolved]
  const missingIn = (these: Record<string, string>, those: Record<string, string>) =>
    Object.fromEntries(Object.entries(those).filter(([name]) => !Object.hasOwn(these, name)))
  const changed = Object.entries(after).flatMap(([name, version]): [string, string[]][] => {
    const old = Object.hasOwn(before, name) ? before[name] : undefined
    return old === undefined || old === version ? [] : [[name, [old, version]]]
  })
  return { added: missingIn(before, after), removed: missingIn(after, before), changed: Object.fromEntries(changed) }
}
