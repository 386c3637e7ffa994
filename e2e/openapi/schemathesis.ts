import { join } from 'node:path'
import { fromPypi } from '../system/fetched-programs.ts'

/** Where the program is, in an environment of its own that is made when it is not there; or in words why it can't be. */
export async function findSchemathesis(): Promise<{ program: string } | { fault: string }> {
  const found = await fromPypi('schemathesis', join(import.meta.dirname, 'requirements.txt'))
  return 'fault' in found ? found : { program: join(found.bin, 'schemathesis') }
}
