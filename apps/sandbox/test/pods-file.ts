import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The path of a file as KUBERNETES_PODS names one, with these members, and these of `runners`. */
export function podsFile(members: object, runners?: object): string {
  const path = join(mkdtempSync(join(tmpdir(), 'pods-')), 'pods.json')
  writeFileSync(path, JSON.stringify({ ...members, runners }))
  return path
}
