import { homedir, platform } from 'node:os'
import { join } from 'node:path'

/** A program that speaks to tools, and where it reads which there are. */
interface McpClient {
  name: string
  /** Its configuration file; undefined where it is made by a command of its own. */
  file?: string
  /** The members that lead to the servers. */
  key: readonly string[]
  /** Members beside the command. */
  extra?: Record<string, string>
  /** In place of a file: the command that adds a server. */
  command?(server: Server): string
}

/** How a client starts the bridge. There is no token in it: the bridge finds the stored one. */
export interface Server {
  command: string
  args: string[]
}

/** The clients that `pas mcp install` knows, by the word for them. */
export function mcpClients(env: Readonly<Record<string, string | undefined>>, cwd: string): Record<string, McpClient> {
  const home = env['HOME'] || homedir()
  const support: Readonly<Record<string, string>> = {
    darwin: join(home, 'Library/Application Support'),
    win32: env['APPDATA'] ?? join(home, 'AppData/Roaming'),
  }
  const apps = support[platform()] ?? (env['XDG_CONFIG_HOME'] || join(home, '.config'))
  return {
    'claude-code': {
      name: 'Claude Code',
      key: ['mcpServers'],
      command: ({ command, args }) =>
        `claude mcp add process-automation -- ${[command, ...args].map(shellWord).join(' ')}`,
    },
    'claude-desktop': {
      name: 'Claude Desktop',
      file: join(apps, 'Claude/claude_desktop_config.json'),
      key: ['mcpServers'],
    },
    cursor: { name: 'Cursor', file: join(home, '.cursor/mcp.json'), key: ['mcpServers'] },
    vscode: {
      name: 'Visual Studio Code',
      file: join(cwd, '.vscode/mcp.json'),
      key: ['servers'],
      extra: { type: 'stdio' },
    },
    windsurf: { name: 'Windsurf', file: join(home, '.codeium/windsurf/mcp_config.json'), key: ['mcpServers'] },
  }
}

/** A word that a shell takes as it is: a repository may name any address and team. */
function shellWord(word: string): string {
  return /^[\w@%+:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** A configuration with the server in it, whatever else it has. */
export function withServer(config: object, { key, extra }: McpClient, server: Server): object {
  const [first = 'mcpServers'] = key
  const servers = (config as Record<string, unknown>)[first]
  return { ...config, [first]: { ...(servers as object | undefined), 'process-automation': { ...extra, ...server } } }
}
