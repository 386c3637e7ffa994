import type { Command } from 'commander'
import type { Runtime } from './runtime.ts'

/** A command of the program: its file is loaded when it is asked for. */
export interface CommandRow {
  name: string
  /** One line for the list of commands. */
  summary: string
  group: string
  load(): Promise<{ register(program: Command, runtime: Runtime): void }>
}

const start = 'Start:'
const runs = 'Runs:'
const team = 'Team:'
const tools = 'Tools:'

/** All commands, in the order of the help. */
export const commandTable: readonly CommandRow[] = [
  {
    name: 'context',
    summary: 'list, choose and remove contexts',
    group: start,
    load: () => import('./commands/context.ts'),
  },
]
void [runs, team, tools]
