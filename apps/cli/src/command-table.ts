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

/** All commands, in the order of the help. */
export const commandTable: readonly CommandRow[] = [
  { name: 'login', summary: 'sign in to a team', group: start, load: () => import('./commands/login.ts') },
  { name: 'logout', summary: 'forget a token', group: start, load: () => import('./commands/logout.ts') },
  {
    name: 'whoami',
    summary: 'show who is signed in, and what they may do',
    group: start,
    load: () => import('./commands/whoami.ts'),
  },
  {
    name: 'context',
    summary: 'list, choose and remove contexts',
    group: start,
    load: () => import('./commands/context.ts'),
  },
  {
    name: 'run',
    summary: 'run a process, or a file that is not saved',
    group: runs,
    load: () => import('./commands/run.ts'),
  },
  {
    name: 'executions',
    summary: 'list, follow, kill and repeat runs',
    group: runs,
    load: () => import('./commands/executions.ts'),
  },
  { name: 'logs', summary: 'show what runs have logged', group: runs, load: () => import('./commands/logs.ts') },
  {
    name: 'schedules',
    summary: 'list, try, pause and resume schedules',
    group: runs,
    load: () => import('./commands/schedules.ts'),
  },
  { name: 'deps', summary: 'packages of the team', group: team, load: () => import('./commands/deps.ts') },
  { name: 'vars', summary: 'variables of the team', group: team, load: () => import('./commands/vars.ts') },
]
