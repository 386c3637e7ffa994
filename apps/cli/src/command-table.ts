import type { Command } from 'commander'
import type { Runtime } from './runtime.ts'

/** A command of the program: its file is loaded when it is asked for. */
export interface CommandRow {
  name: string
  /** One line for the list of commands. */
  summary: string
  /** The heading that it stands under. */
  group: string
  load: Load
}

type Load = () => Promise<{ register(program: Command, runtime: Runtime): void }>

/** All commands, in the order of the help. */
export const commandTable: readonly CommandRow[] = [
  ...group('Start:', {
    login: ['sign in to a team', () => import('./commands/login.ts')],
    logout: ['forget a token', () => import('./commands/logout.ts')],
    whoami: ['show who is signed in, and what they may do', () => import('./commands/whoami.ts')],
    context: ['list, choose and remove contexts', () => import('./commands/context.ts')],
    doctor: ['look for what may be wrong', () => import('./commands/doctor.ts')],
  }),
  ...group('Runs:', {
    run: ['run a process, or a file that is not saved', () => import('./commands/run.ts')],
    logs: ['show what runs have logged', () => import('./commands/logs.ts')],
    executions: ['list, follow, kill and repeat runs', () => import('./commands/executions.ts')],
    webhooks: ['list webhooks, and call them as their senders would', () => import('./commands/webhooks.ts')],
    schedules: ['list, try, pause, resume and delete schedules', () => import('./commands/schedules.ts')],
  }),
  ...group('A team as a git repository:', {
    init: ['make a folder a project of a team', () => import('./commands/init.ts')],
    status: ['show in what files and server differ', () => import('./commands/status.ts')],
    diff: ['the same, line by line', () => import('./commands/diff.ts')],
    pull: ['take changes of the server into the files', () => import('./commands/pull.ts')],
    plan: ['show what push would do', () => import('./commands/plan.ts')],
    push: ['write the files to the server', () => import('./commands/push.ts')],
    release: ['publish what has changed, and move an alias', () => import('./commands/release.ts')],
    rollback: ['move an alias back', () => import('./commands/rollback.ts')],
    processes: ['list, show and delete processes', () => import('./commands/processes.ts')],
    versions: ['list, show and delete versions', () => import('./commands/versions.ts')],
    aliases: ['list, move and delete aliases', () => import('./commands/aliases.ts')],
    modules: ['list, show and delete modules', () => import('./commands/modules.ts')],
    types: ['schemas and types for editors', () => import('./commands/types.ts')],
    dev: ['run a process each time that it is saved', () => import('./commands/dev.ts')],
  }),
  ...group('Team:', {
    vars: ['variables', () => import('./commands/vars.ts')],
    deps: ['packages', () => import('./commands/deps.ts')],
    storage: ['files', () => import('./commands/storage.ts')],
    sandbox: ['isolated environments for commands, files and servers', () => import('./commands/sandbox.ts')],
    tokens: ['service accounts and their tokens', () => import('./commands/tokens.ts')],
    team: ['settings, and all of it as files', () => import('./commands/team.ts')],
    limits: ['what may be used, and what is', () => import('./commands/limits.ts')],
    usage: ['what runs have used', () => import('./commands/usage.ts')],
    audit: ['who did what', () => import('./commands/audit.ts')],
  }),
  ...group('Tools:', {
    api: ['any call of the REST interface', () => import('./commands/api.ts')],
    mcp: ['tools for assistants, over stdio', () => import('./commands/mcp.ts')],
    completion: ['the script of a shell that completes commands', () => import('./commands/completion.ts')],
  }),
]

function group(heading: string, rows: Record<string, [summary: string, load: Load]>): CommandRow[] {
  return Object.entries(rows).map(([name, [summary, load]]) => ({ name, summary, group: heading, load }))
}
