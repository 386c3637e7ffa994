import type { IconName } from '../parts/icon-outlines.ts'

/** The pages of a team, each with the letter that leads there behind `g`. */
export const places = [
  { to: '/t/$team', icon: 'home', name: 'Home', letter: 'h' },
  { to: '/t/$team/processes', icon: 'code', name: 'Processes', letter: 'p' },
  { to: '/t/$team/executions', icon: 'list', name: 'Executions', letter: 'e' },
  { to: '/t/$team/schedules', icon: 'calendar', name: 'Schedules', letter: 's' },
  { to: '/t/$team/modules', icon: 'puzzle', name: 'Modules', letter: 'm' },
  { to: '/t/$team/variables', icon: 'key', name: 'Variables', letter: 'v' },
  { to: '/t/$team/dependencies', icon: 'box', name: 'Dependencies', letter: 'd' },
  { to: '/t/$team/storage', icon: 'folder', name: 'Storage', letter: 'o' },
  { to: '/t/$team/sandboxes', icon: 'terminal', name: 'Sandboxes', letter: 'b' },
  { to: '/t/$team/usage', icon: 'chart', name: 'Usage', letter: 'u' },
  { to: '/t/$team/audit', icon: 'shield', name: 'Audit', letter: 'a' },
  { to: '/t/$team/tokens', icon: 'person', name: 'Tokens', letter: 't' },
  { to: '/t/$team/settings', icon: 'settings', name: 'Settings', letter: 'c' },
] as const satisfies readonly { to: string; icon: IconName; name: string; letter: string }[]
