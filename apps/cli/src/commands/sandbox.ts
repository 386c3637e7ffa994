import { text as textOf } from 'node:stream/consumers'
import type { Sandbox } from '@automation/client'
import type { Command } from 'commander'
import { doEach } from '../do-each.ts'
import { readFailure } from '../failure.ts'
import { duration, wholeNumber } from '../options/duration.ts'
import { readPair, repeated } from '../options/repeated.ts'
import { examples } from '../output/examples.ts'
import { recordText } from '../output/record.ts'
import { exitCodes, ExitError, usageError, type Runtime } from '../runtime.ts'
import { copy } from '../sandbox/copy.ts'
import { exitCodeOf, ownFailure } from '../sandbox/exec.ts'

interface ExecOptions {
  cwd?: string
  env?: string[]
  timeout?: number
  interactive?: boolean
}

const id = '0198c2b0-9a4c-7d2e-b1f3-5c8e7a6d9b04'

/** `pas sandbox`. */
export function register(program: Command, runtime: Runtime): void {
  const { out } = runtime
  const sandbox = program.command('sandbox').description('Isolated environments for commands, files and servers.')
  examples(sandbox, 'pas sandbox create --timeout 1h --port 3000', `pas sandbox exec ${id} -- python3 -V`)

  examples(
    sandbox
      .command('create')
      .description('Make a sandbox and print its id.')
      .option('--image <id>', 'what it is made of', 'base')
      .option('--name <name>', 'a name')
      .option('--timeout <duration>', 'after how long it ends', duration)
      .option('--port <port>', 'a public port; several times', (text, before: number[] | undefined) => [
        ...(before ?? []),
        wholeNumber(1, 65_535)(text),
      ])
      .action(create),
    'pas sandbox create',
    'pas sandbox create --image base --timeout 1h --port 3000 --json',
  )
  examples(
    sandbox.command('ls').description('List sandboxes.').option('-a, --all', 'with those that have ended').action(list),
    'pas sandbox ls',
  )
  examples(
    sandbox.command('show').argument('<id>').description('Show a sandbox.').action(show),
    `pas sandbox show ${id}`,
  )
  examples(
    sandbox
      .command('exec')
      .argument('<id>')
      .argument('<command...>', 'behind --')
      .description(
        `Run a command. Ends with its exit code, with ${ownFailure} where it is not the command that failed, with 124 after --timeout.`,
      )
      .option('--cwd <folder>', 'where, from the home of the sandbox')
      .option('--env <name=value>', 'a variable of its environment', repeated)
      .option('--timeout <duration>', 'how long it may take', duration)
      .option('-i, --interactive', 'pass stdin on, up to 1 MiB')
      .action(run),
    `pas sandbox exec ${id} -- python3 -c 'print(6 * 7)'`,
    `pas sandbox exec ${id} -i --timeout 1m -- sh < script.sh`,
  )
  examples(
    sandbox
      .command('cp')
      .argument('<src>', 'a file here, or ID:PATH')
      .argument('<dst>', 'ID:PATH, or a file here; - is stdout')
      .description('Copy a file into a sandbox or out of it.')
      .action((src: string, dst: string) => copy(runtime, src, dst)),
    `pas sandbox cp main.py ${id}:/tmp/main.py`,
    `pas sandbox cp ${id}:/tmp/out.csv .`,
  )
  examples(
    sandbox.command('shell').argument('<id>').description('Open a terminal.').action(openShell),
    `pas sandbox shell ${id}`,
  )
  examples(
    sandbox
      .command('forward')
      .argument('<id>')
      .argument('<port>', 'one of the public ports that it was made with', wholeNumber(1, 65_535))
      .description('Serve a port of a sandbox on this machine, HTTP and WebSocket, until Ctrl-C.')
      .option('--local <port>', 'the port here; the same where it is free', wholeNumber(0, 65_535))
      .action(forwardPort),
    `pas sandbox forward ${id} 3000`,
    `pas sandbox forward ${id} 3000 --local 8000`,
  )
  examples(
    sandbox
      .command('extend')
      .argument('<id>')
      .argument('<duration>', 'from now on', duration)
      .description('Move the end of a sandbox.')
      .action(extend),
    `pas sandbox extend ${id} 1h`,
  )
  examples(
    sandbox.command('kill').argument('<id...>').description('End sandboxes.').action(kill),
    `pas sandbox kill ${id}`,
  )

  const boxOf = async (of: string) => {
    const { sandboxes } = await runtime.client()
    return sandboxes.use(await sandboxes.get(of))
  }

  async function create(options: { image: string; name?: string; timeout?: number; port?: number[] }): Promise<void> {
    const { image, name, timeout, port } = options
    const client = await runtime.client()
    const { record: data } = await client.sandboxes.create({ imageId: image, name, timeoutMs: timeout, ports: port })
    out.data(shown(data), { text: data.id })
    if (!out.json) for (const [port, url] of Object.entries(data.publicUrls)) out.say(`port ${port}: ${url}`)
  }

  async function list({ all }: { all?: boolean }): Promise<void> {
    const sandboxes = await (await runtime.client()).sandboxes.list().toArray()
    const wanted = all ? sandboxes : sandboxes.filter(({ status }) => status === 'PENDING' || status === 'RUNNING')
    out.data(wanted.map(shown), {
      table: [
        { title: 'id', of: (one) => one.id },
        { title: 'name', of: (one) => one.name },
        { title: 'status', of: (one) => one.status },
        { title: 'image', of: (one) => one.imageId },
        { title: 'ports', of: (one) => Object.keys(one.publicUrls).join(',') },
        { title: 'ends', of: (one) => one.timeoutAt },
      ],
      empty: 'There are no sandboxes.',
    })
  }

  async function show(of: string): Promise<void> {
    const record = shown(await (await runtime.client()).sandboxes.get(of))
    out.data(record, { text: recordText(record) })
  }

  async function run(of: string, command: string[], options: ExecOptions): Promise<void> {
    throw new ExitError(
      await exitCodeIn(of, command, options).catch((error: unknown) => failOfOurs(error, runtime.env)),
    )
  }

  /** Runs a command; gives the exit code for what it ended with. */
  async function exitCodeIn(of: string, [command = '', ...args]: string[], options: ExecOptions): Promise<number> {
    const { exec } = await import('../sandbox/exec.ts')
    const client = await runtime.client()
    const env = Object.fromEntries((options.env ?? []).map((text) => readPair(text, 'variable')))
    const stdin = options.interactive ? await textOf(runtime.stdin) : undefined
    const input = { command, args, cwd: options.cwd, env, stdin, timeoutMs: options.timeout }
    const ended = await exec(client, of, input, (stream, data) => {
      if (out.json) out.line({ type: 'log', stream, data })
      else runtime[stream].write(data)
    })
    if (out.json)
      out.line({ type: 'end', code: ended.code, signal: ended.signal || undefined, timedOut: ended.timedOut })
    return exitCodeOf(ended)
  }

  async function openShell(of: string): Promise<void> {
    const { shell } = await import('../sandbox/shell.ts')
    throw new ExitError(await shell(runtime, await boxOf(of)))
  }

  async function forwardPort(of: string, port: number, { local }: { local?: number }): Promise<void> {
    const { publicUrls } = (await boxOf(of)).record
    const publicUrl = publicUrls[port]
    if (publicUrl === undefined)
      throw new ExitError(
        exitCodes.refused,
        `The port ${port} of ${of} is not public; public are: ${Object.keys(publicUrls).join(', ') || 'none'}. Make the sandbox with --port ${port}.`,
      )
    const { forward } = await import('../sandbox/forward.ts')
    const { address } = await forward(publicUrl, local ?? port).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error
      throw usageError(`The port ${local ?? port} of this machine is in use. Choose another: --local PORT (0: any)`)
    })
    out.data({ address, publicUrl }, { text: address })
    out.say('Ctrl-C ends it.')
  }

  async function extend(of: string, timeout: number): Promise<void> {
    const data = await (await runtime.client()).sandboxes.extend(of, timeout)
    out.done(shown(data), `${of} ends at ${data.timeoutAt}.`)
  }

  async function kill(ids: string[]): Promise<void> {
    const client = await runtime.client()
    const ended = new Map<string, Partial<Sandbox>>()
    await doEach(runtime, ids, {
      nameOf: (id) => id,
      work: async (id) => ended.set(id, shown(await client.sandboxes.kill(id))),
      rowOf: (id, killed) => ({ ...ended.get(id), id, killed }),
      wordsOf: (killed) => `Killed: ${killed.join(', ')}.`,
    })
  }
}

/** A sandbox without its key: who has it may do everything in the sandbox. */
function shown({ grpcApiKey: _, ...sandbox }: Sandbox): Omit<Sandbox, 'grpcApiKey'> {
  return sandbox
}

/** A failure of ours while a command runs: its exit code must not pass for that of the command. */
async function failOfOurs(error: unknown, env: Runtime['env']): Promise<never> {
  const { message, code: reason } = await readFailure(error, env)
  throw new ExitError(ownFailure, message, { reason, cause: error })
}
