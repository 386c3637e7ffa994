import { join } from 'node:path'
import { keptKey } from './kept-secret.ts'

/** The settings of a system's keys; each is made in the data folder unless the environment gives it. */
const keyFiles = { INTERNAL_KEY: 'internal-key', ENCRYPTION_KEY: 'encryption-key' } as const

export type EnvironmentValues = Record<string, string | undefined>

/** The environment completed with the keys of the data folder, which are made there at the first start. */
export function withKeys(values: EnvironmentValues, dataDir: string): EnvironmentValues {
  return { ...values, ...lacking(values, (file) => keptKey(join(dataDir, file))) }
}

/** The same for showing and checking a configuration: nothing is read or made. */
export function withKeysToCome(values: EnvironmentValues): EnvironmentValues {
  return { ...values, ...lacking(values, () => '0'.repeat(64)) }
}

/** Whether the environment gives a setting itself, or names a file that does. */
export function gives(values: EnvironmentValues, name: string): boolean {
  return Boolean(values[name]) || Boolean(values[`${name}_FILE`])
}

function lacking(values: EnvironmentValues, key: (file: string) => string): EnvironmentValues {
  return Object.fromEntries(
    Object.entries(keyFiles)
      .filter(([name]) => !gives(values, name))
      .map(([name, file]) => [name, key(file)]),
  )
}
