import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Argument, Option, type Command } from 'commander'
import { mcpClients, withServer } from '../mcp/client-config.ts'
import { examples } from '../output/examples.ts'
import { oneLine } from '../output/plain-text.ts'
import { usageError, type Runtime } from '../runtime.ts'

interface BridgeFlags {
  tools?: string
  access?: string
  alias?: string
}

/** `pas mcp`. */
export function register(program: Command, runtime: Runtime): void {
  const { out } = runtime
  const mcp = program
    .command('mcp')
    .description(
      'Serve the tools of the team over stdio, for assistants: carries MCP to the service and back, with the stored token.',
    )
    .option('--tools <names>', 'only these tools, joined by commas')
    .addOption(new Option('--access <level>', 'at most this level').choices(['tools', 'read', 'run', 'build']))
    .option('--alias <alias>', 'the version of processes that tools run')
    .action(serve)
  examples(mcp, 'pas mcp', 'pas mcp --access read', 'pas mcp install cursor --write')
  const known = mcpClients(runtime.env, runtime.cwd)
  examples(
    mcp
      .command('install')
      .addArgument(new Argument('<client>').choices(Object.keys(known)))
      .description(
        'Print what an assistant is to be configured with, so that it starts "pas mcp". --write adds it to its file.',
      )
      .option('--write', 'change the file of the assistant')
      .action(install),
    'pas mcp install claude-code',
    'pas mcp install vscode --write',
  )

  async function serve({ tools, access, alias }: BridgeFlags): Promise<void> {
    const [{ bridge }, target] = await Promise.all([import('../mcp/bridge.ts'), runtime.target()])
    const url = new URL(`${target.url}/api/${encodeURIComponent(target.team)}/mcp`)
    for (const [name, value] of Object.entries({ tools, access, alias }))
      if (value !== undefined) url.searchParams.set(name, value)
    const client = await runtime.client()
    await bridge({
      url: url.href,
      input: runtime.stdin,
      write: (message) => void runtime.stdout.write(`${message}\n`),
      token: (refused) => client.accessToken(refused),
    })
  }

  async function install(word: string, { write }: { write?: boolean }): Promise<void> {
    const chosen = known[word]!
    const { url, team } = await runtime.target()
    // A context may be that of a repository, which the assistant is not started in.
    const server = { command: 'pas', args: ['--url', url, '--team', team, 'mcp'] }
    if (chosen.command !== undefined) {
      if (write) out.say(`${chosen.name} has a command of its own for this; run it.`)
      return out.data({ command: chosen.command(server) }, { text: oneLine(chosen.command(server)) })
    }
    const file = chosen.file!
    if (!write) {
      const config = withServer({}, chosen, server)
      out.data({ file, config }, { text: JSON.stringify(config, null, 2) })
      if (!out.json) out.say(`This goes into ${file}. --write puts it there.`)
      return
    }
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '{}'
      throw error
    })
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, `${JSON.stringify(withServer(parse(text, file), chosen, server), null, 2)}\n`)
    out.done({ file }, `${file} has it. Start ${chosen.name} anew.`)
  }
}

function parse(text: string, file: string): object {
  try {
    return JSON.parse(text === '' ? '{}' : text) as object
  } catch {
    throw usageError(`${file} is no plain JSON, so it stays as it is. Add what this command prints without --write.`)
  }
}
