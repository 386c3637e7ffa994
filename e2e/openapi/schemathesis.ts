import { join } from 'node:path'
import { pythonEnvironment } from '../system/python-environment.ts'

/** Where the program is, in an environment of its own that is made when it is not there; or in words why it can't be. */
export async function findSchemathesis(): Promise<{ program: string } | { fault: string }> {
  const made = await pythonEnvironment('schemathesis', join(import.meta.dirname, 'requirements.txt'))
  return 'fault' in made ? made : { program: join(made.bin, 'schemathesis') }
}
