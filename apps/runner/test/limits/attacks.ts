import type { Attack } from './attack.ts'
import { files } from './files.ts'
import { memory } from './memory.ts'
import { output, time } from './output-and-time.ts'
import { around, processes } from './processes.ts'

/** All attacks, in the languages in which they can be made. */
export const attacks: Attack[] = [...memory, ...processes, ...files, ...around, ...output, ...time]

/** Those whose end the isolation has no part in. */
export const regardlessOfLevel: ReadonlySet<Attack> = new Set([...output, ...time])
