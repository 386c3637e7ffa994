import { ProblemError } from '../api/problem.ts'
import { Fault } from './page-states.tsx'

/** What is wrong with the field that a JSON pointer names. */
export function faultAt(error: Error | null, path: string): string | undefined {
  return error instanceof ProblemError ? error.faults.get(path) : undefined
}

/** What is wrong with a list that a JSON pointer names, or with the first of its items that is. */
export function faultUnder(error: Error | null, path: string): string | undefined {
  if (!(error instanceof ProblemError)) return undefined
  const [, message] = [...error.faults].find(([at]) => at === path || at.startsWith(`${path}/`)) ?? []
  return message
}

/** What failed at sending a form, unless all of it stands at the fields that `paths` name. */
export function FormFault({ error, paths = [] }: { error: Error | null; paths?: readonly string[] }) {
  if (error === null) return null
  const faults = error instanceof ProblemError ? [...error.faults.keys()] : []
  if (faults.length > 0 && faults.every((at) => paths.some((path) => at === path || at.startsWith(`${path}/`))))
    return null
  return <Fault error={error} />
}
