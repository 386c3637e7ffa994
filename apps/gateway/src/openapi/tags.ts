/** What the groups of operations are about, in the order in which the document has them. */
const TEXTS: Record<string, string> = {
  Token: 'An API token is exchanged for an access token, which every other operation asks for.',
  Team: 'The team in the address: its name, its time zone, the teams that it inherits modules and variables from.',
  Processes: 'Code units in JavaScript or Python, with what they may be given and how they may be started.',
  Versions: 'Published versions of processes. A published version never changes; a run may name one by its tag.',
  Aliases: 'Names that point to versions of a process and can be pointed to others, such as `live`.',
  Executions: 'Runs of processes: start, wait, follow, list, kill, start once more. A terminal status never changes.',
  Schedules: 'Processes that run by a cron or once at a time, in the time zone of the team.',
  Webhooks: 'Processes that are started by a plain HTTP request, and that may decide on the answer.',
  Modules: 'Libraries that processes and other modules import by their names.',
  'Module versions': 'Published versions of modules.',
  'Module aliases': 'Names that point to versions of a module and can be pointed to others.',
  Variables: 'Keys and values that runs find in their environment. Sensitive ones are never shown again.',
  Dependencies: 'Packages from npm and PyPI, one list for each language: staged, then installed, then seen by runs.',
  Storage: 'Objects of the team under names that may have slashes, and links by which anybody may download one.',
  Sandboxes: 'Isolated environments with a deadline: commands, files and ports over gRPC, public ports over HTTP.',
  Audit: 'Who did what, kept after the thing itself is gone.',
}

/** The tags of a document that has operations with these names. */
export function describeTags(used: ReadonlySet<string>): { name: string; description: string }[] {
  return Object.entries(TEXTS)
    .filter(([name]) => used.has(name))
    .map(([name, description]) => ({ name, description }))
}
