/** The words that a token may be given, with what each allows. None includes another, but `executor` most of them. */
export const scopes = {
  read: 'Read everything of the team but credentials and service accounts',
  run: 'Start, start again and kill runs; pause and resume schedules',
  build: 'Create, change and delete what the team has; use sandboxes; see credentials in records',
  admin: 'Service accounts',
  executor: 'Everything but what asks for admin',
  'mcp:tools': 'For MCP: run the processes that are tools, and wait for their ends',
  'mcp:read': 'For MCP: tools that read, and what mcp:tools allows',
  'mcp:run': 'For MCP: tools that start and kill runs, code that is not saved among them, and what mcp:read allows',
  'mcp:build': 'For MCP: tools that create, change and delete, and what mcp:run allows',
} as const

export type Scope = keyof typeof scopes

/** Whether a text is one of the words that a token may be given. */
export function isScope(text: string): text is Scope {
  return Object.hasOwn(scopes, text)
}

/** The words of a token's scope, without what nobody knows and without repetition. */
export function scopesIn(text: string): Scope[] {
  return [...new Set(text.split(' ').filter(isScope))]
}

/** Whether a token's scope, words with spaces between, allows what asks for `wanted`. */
export function allows(scope: string, wanted: Scope): boolean {
  if (scope === wanted) return true
  const words = scope.split(' ')
  return words.includes(wanted) || (wanted !== 'admin' && words.includes('executor'))
}
