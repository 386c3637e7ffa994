import { usageError } from '../exit.ts'

/** The values of an option that may be given several times. */
export const repeated = (text: string, before: string[] = []): string[] => [...before, text]

/** Headers as curl takes them, `Name: value`, by their names in lower case; those of one name are joined. */
export function readHeaders(texts: readonly string[] = []): Record<string, string> {
  // Names such as `constructor` are among what other objects have.
  const headers = Object.create(null) as Record<string, string>
  for (const text of texts) {
    const [, name, value] = /^([^:\s]+):\s*(.*)$/.exec(text) ?? []
    if (name === undefined || value === undefined) throw usageError(`A header is "Name: value", and "${text}" is none.`)
    const key = name.toLowerCase()
    const between = key === 'cookie' ? '; ' : ', '
    headers[key] = headers[key] === undefined ? value : `${headers[key]}${between}${value}`
  }
  return headers
}

/** The values of each name of NAME=VALUE, in their order; `what` says in the error what they are. */
export function readPairs(texts: readonly string[] = [], what: string): Record<string, string[]> {
  const pairs = Map.groupBy(
    texts.map((text) => readPair(text, what)),
    ([name]) => name,
  )
  return Object.fromEntries([...pairs].map(([name, same]) => [name, same.map(([, value]) => value)]))
}

/** The two sides of NAME=VALUE; `what` says in the error what they are. */
export function readPair(text: string, what: string): [name: string, value: string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined) throw usageError(`A ${what} is NAME=VALUE, and "${text}" is none.`)
  return [name, value]
}
