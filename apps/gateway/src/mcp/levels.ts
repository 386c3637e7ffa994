import { allows } from '@automation/contract/scopes'

/** What a client of MCP may be offered, the least first; each has what those before it have. */
export const levels = ['tools', 'read', 'run', 'build'] as const

export type Level = (typeof levels)[number]

/** The words that the calls of a tool of this level need, and no more are they given. */
export const scopeOf: Readonly<Record<Level, string>> = {
  tools: 'read run',
  read: 'read',
  run: 'read run',
  build: 'read run build',
}

/** Whether a token's scope allows tools of a level: by a word of MCP for it or a higher one, or by all that they need. */
export function reaches(scope: string, level: Level, needed: string = scopeOf[level]): boolean {
  const words = scope.split(' ')
  const isGiven = levels.slice(levels.indexOf(level)).some((one) => words.includes(`mcp:${one}`))
  return isGiven || needed.split(' ').every((word) => allows(scope, word as 'read'))
}

/** The level of a connection that names none: the highest of a token's words of MCP, and of any other token the least. */
export function usualLevel(scope: string): Level {
  const words = scope.split(' ')
  return levels.findLast((level) => words.includes(`mcp:${level}`)) ?? 'tools'
}

/** Whether a level has the tools of another. */
export function includes(level: Level, other: Level): boolean {
  return levels.indexOf(other) <= levels.indexOf(level)
}
