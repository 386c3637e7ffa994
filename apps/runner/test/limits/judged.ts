import type { Ended } from '../scripted-replica.ts'
import type { Attack, Language } from './attack.ts'
import { files } from './files.ts'
import { memory } from './memory.ts'
import { output, time } from './output-and-time.ts'
import { around, processes } from './processes.ts'

/** All attacks, in the languages in which they can be made. */
export const attacks: Attack[] = [...memory, ...processes, ...files, ...around, ...output, ...time]

/** Those whose end the isolation has no part in. */
export const regardlessOfLevel: ReadonlySet<Attack> = new Set([...output, ...time])

/** Under which the attacks are made. */
export const settings = {
  RUN_MEMORY_MB: '96',
  RUN_TMP_MB: '16',
  LOG_MAX_LINES: '1000',
  LOG_MAX_BYTES: '300000',
  RETURN_VALUE_MAX_BYTES: '1000000',
}

const languages: Language[] = ['javascript', 'python']

/** Each attack in each language in which it can be made. */
export const made = attacks.flatMap((attack) =>
  languages.flatMap((language) => (attack[language] === undefined ? [] : ([[attack.name, language, attack]] as const))),
)

/** Tells what it finds of others before it: in its directories, and whether the child still works. */
export const next: Record<Language, string> = {
  javascript: `const fs = require('fs'); return [process.cwd(), '/dev/shm'].flatMap((path) => { try { return fs.readdirSync(path) } catch { return [] } })`,
  python: `
import os
def names(path):
    try:
        return os.listdir(path)
    except OSError:
        return []
return names(".") + names("/dev/shm")`,
}

/** What is wrong with the end of an attack, in words; undefined where it ended as it is to. */
export function faultOf({ ends, logEnds }: Attack, { value, explanation, log }: Ended): string | undefined {
  const ending = explanation ?? `the value ${JSON.stringify(value)}`
  const wanted = ends instanceof RegExp ? String(ends) : `the value ${JSON.stringify(ends.value)}`
  if (ends instanceof RegExp ? !ends.test(ending) : ending !== wanted) return `it ended with ${ending}, not ${wanted}`
  const [last, ...rest] = log.map(({ message }) => message).toReversed()
  const lastLine = explanation === undefined ? last : rest[0]
  if (logEnds !== undefined && !logEnds.test(lastLine ?? '')) return `its log ends with ${lastLine}, not ${logEnds}`
  return undefined
}
