import { usageError } from '../exit.ts'

/** The values of an option that may be given several times. */
export const repeated = (text: string, before: string[] = []): string[] => [...before, text]

/** The two sides of NAME=VALUE; `what` says in the error what they are. */
export function readPair(text: string, what: string): [name: string, value: string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined) throw usageError(`A ${what} is NAME=VALUE, and "${text}" is none.`)
  return [name, value]
}
