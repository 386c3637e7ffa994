import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './run.ts'
import type { Source } from './source.ts'

interface Bom {
  serialNumber?: string
  metadata: { timestamp: string; component: Record<string, unknown> }
  [member: string]: unknown
}

/** What npm has put into an image, as CycloneDX: the packages of its workspace, as package-lock.json fixes them. */
export async function sbomOf(image: string, version: string, { folder, time }: Source): Promise<object> {
  // An image that is none of a service has the daemon in it.
  const workspaces = [existsSync(join(folder, 'apps', image)) ? image : 'sandbox-daemon']
  // Its browsers' side is bundled into the gateway's.
  if (image === 'gateway') workspaces.push('console')
  const options = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only', '--omit', 'dev']
  const only = workspaces.flatMap((name) => ['--workspace', `@automation/${name}`])
  const bom = JSON.parse(await run('npm', ['sbom', ...options, '--omit', 'optional', ...only], { cwd: folder })) as Bom
  // The same for the same commit: no number by chance, no time of this moment, no name of this folder.
  delete bom.serialNumber
  bom.metadata.timestamp = new Date(time * 1000).toISOString()
  Object.assign(bom.metadata.component, { name: `process-automation-${image}`, version })
  return bom
}
