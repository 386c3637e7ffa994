import type { Wish } from './wish.ts'

/** What a source says of modules and packages by literal names; at most 1000 of each, each once. */
export interface Reading {
  /** What it imports that could be a module: `name`, or `name tag`. */
  readonly imports: string[]
  /** Names by which it imports what could be a package; for npm these are the packages' own. */
  readonly packages: string[]
  /** What its comments ask for with `@add-package`; the last of a name counts. */
  readonly wishes: Wish[]
  /** Where it is no program of its language, as far as that is known. */
  readonly fault?: SourceFault
}

/** Where a source breaks its language's syntax; lines and columns count from 1. */
export interface SourceFault {
  message: string
  line: number
  column: number
}

/** A source with its reading. */
export interface ReadSource {
  source: string
  reading: Reading
}

/** Of a source that says nothing. */
export const emptyReading: Reading = { imports: [], packages: [], wishes: [] }

/** Whether a source can say anything of modules or packages at all; most can't, and need no reading. */
export function mayMention(source: string): boolean {
  return /\b(?:import|require|import_module)\b|@add-package\b/.test(source)
}
