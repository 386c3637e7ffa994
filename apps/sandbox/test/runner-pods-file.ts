import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The path of a file as RUNNER_PODS names one, with these members. */
export function runnerPodsFile(members: object): string {
  const path = join(mkdtempSync(join(tmpdir(), 'runner-pods-')), 'runner-pods.json')
  writeFileSync(path, JSON.stringify(members))
  return path
}
