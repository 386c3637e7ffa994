import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { debianPackages } from './debian-packages.ts'
import { run } from './run.ts'
import type { Source } from './source.ts'

interface Bom {
  serialNumber?: string
  metadata: { timestamp: string; component: Record<string, unknown> }
  components: object[]
  [member: string]: unknown
}

/**
 * What is in an image of a layout, as CycloneDX: the packages of its workspace, as package-lock.json fixes them, and those of
 * Debian that are installed in it.
 */
export async function sbomOf(
  image: string,
  version: string,
  { folder, time }: Source,
  { layout, digest }: { layout: string; digest: string },
): Promise<object> {
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
  bom.components.push(...(await debianPackages(layout, digest)))
  return bom
}
