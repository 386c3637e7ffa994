import { notFound, type Failure } from '@automation/errors'
import { isUuid } from '@automation/contract/forms'

const longestName = 100

/** process_not_found, naming what was asked for. */
export function absentProcess(identifier: string): Failure {
  return notFound('process', named(identifier, 'Process not found: there is no process'))
}

/** version_not_found, naming what was asked for where aliases are looked at too. */
export function absentVersionOrAlias(name: string): Failure {
  return notFound('version', named(name, 'Version not found: the process has no version or alias'))
}

/** version_not_found, naming what was asked for where only versions are meant. */
export function absentVersion(name: string): Failure {
  return notFound('version', named(name, 'Version not found: there is no version'))
}

// Answers for ids are the same text for all: one of another team is told by nothing from one that never was.
function named(name: string, text: string): string | undefined {
  if (name === '' || isUuid(name)) return undefined
  const shown = name.length > longestName ? `${name.slice(0, longestName)}…` : name
  return `${text} ${JSON.stringify(shown)}`
}
