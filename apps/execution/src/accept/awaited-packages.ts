import type { RunSpec } from '@automation/contract/catalog/v1/resolve'

const mostCharacters = 500

/** Whether runs of this spec wait until packages are installed. */
export function awaitsPackages({ awaitedDependencies }: RunSpec): boolean {
  return awaitedDependencies !== ''
}

/** For a run that waits for packages. */
export function whyHeld({ awaitedDependencies: names }: RunSpec): string {
  const shown = names.length > mostCharacters ? `${names.slice(0, mostCharacters)}…` : names
  return `Waits for packages that are being installed: ${shown}`
}
