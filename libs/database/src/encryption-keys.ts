import type { Environment } from '@automation/service'

const keyMinChars = 16

/** Reads ENCRYPTION_KEY: the first key encrypts, all of them decrypt. Faults are noted in `env`. */
export function readEncryptionKeys(env: Environment): string[] {
  const given = env.secret('ENCRYPTION_KEY')
  if (given === undefined) env.fault('ENCRYPTION_KEY', 'must be set')
  const keys = (given ?? '')
    .split(',')
    .map((key) => key.trim())
    .filter((key) => key !== '')
  if (keys.some((key) => key.length < keyMinChars))
    env.fault('ENCRYPTION_KEY', `must be keys of at least ${keyMinChars} characters, separated by commas`)
  return keys
}
