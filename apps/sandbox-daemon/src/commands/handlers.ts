import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromDate, timestampMs } from '@bufbuild/protobuf/wkt'
import type {
  CommandService,
  RunCommandRequest,
  RunCommandResponseSchema,
} from '@automation/contract/sandbox/v1/daemon'
import { asFailure, invalid } from '@automation/errors'
import type { CallContext, Handlers } from '@automation/rpc'
import type { Command } from './command.ts'
import type { Commands } from './commands.ts'
import type { Detached } from './detached.ts'

type Response = MessageInitShape<typeof RunCommandResponseSchema>

/** Commands in the sandbox. */
export function commandHandlers(commands: Commands): Handlers<typeof CommandService> {
  return {
    runCommand: (requests, context) => runCommand(commands, requests, context),
    attachCommand: ({ id }, { signal }) => attached(commands.detached.get(id), signal),
    listCommands: () => {
      const detached = commands.detached.list()
      const others = commands.list().filter((command) => !detached.some((one) => one.command === command))
      const all = [...detached.map(detachedMessage), ...others.map((command) => commandMessage(command))]
      return { commands: all.toSorted((a, b) => timestampMs(a.startedAt) - timestampMs(b.startedAt)) }
    },
    killCommand: ({ pid, id }) => {
      if (id === '') commands.kill(pid)
      else commands.detached.remove(id)
      return {}
    },
  }
}

// A list of many has room in one message.
const mostShownCharacters = 64 * 1024

function commandMessage({ pid, command, startedAt }: Command) {
  let left = mostShownCharacters
  const shown = command.flatMap((word) => {
    const piece = word.slice(0, Math.max(left, 0))
    left -= word.length
    return left + word.length > 0 ? [piece] : []
  })
  return { pid, command: shown, startedAt: timestampFromDate(startedAt) }
}

function detachedMessage({ id, command, output }: Detached) {
  return { ...commandMessage(command), id, ended: output.end }
}

async function* attached({ id, command, output }: Detached, signal: AbortSignal): AsyncGenerator<Response> {
  yield { message: { case: 'started', value: { pid: command.pid, id } } }
  for await (const message of output.read(signal)) yield { message }
}

async function* runCommand(
  commands: Commands,
  requests: AsyncIterable<RunCommandRequest>,
  { signal }: CallContext,
): AsyncGenerator<Response> {
  const incoming = requests[Symbol.asyncIterator]()
  const { value: first } = (await incoming.next()) as IteratorResult<RunCommandRequest, undefined>
  if (first?.message.case !== 'start') throw invalid('/start', 'must come first')
  if (first.message.value.detached) {
    const { id, command } = await commands.startDetached(first.message.value)
    return yield { message: { case: 'started', value: { pid: command.pid, id } } }
  }
  const command = await commands.start(first.message.value)
  let over = false
  const kill = () => {
    if (!over) command.kill()
  }
  signal.addEventListener('abort', kill, { once: true })
  if (signal.aborted) kill()
  let fault: Error | undefined
  take(incoming, command).catch((error: unknown) => {
    // A caller that has gone is told by the signal; all else it must hear.
    fault = signal.aborted ? undefined : asFailure(error)
    kill()
  })
  try {
    yield { message: { case: 'started', value: { pid: command.pid } } }
    for await (const message of command.output()) {
      if (fault !== undefined) throw fault
      over = message.case === 'ended'
      yield { message }
    }
  } finally {
    signal.removeEventListener('abort', kill)
    kill()
    command.leave()
  }
}

/** Passes input and signals on until they end; where input can't be taken, they wait. */
async function take(incoming: AsyncIterator<RunCommandRequest>, command: Command): Promise<void> {
  for (let next = await incoming.next(); !next.done; next = await incoming.next()) {
    const { message } = next.value
    switch (message.case) {
      case 'input':
        await command.feed(message.value)
        break
      case 'endOfInput':
        command.endInput()
        break
      case 'signal':
        command.signal(message.value)
        break
      case 'resize':
        command.resize(message.value)
        break
      default:
        throw invalid('/start', 'must come once, at the beginning')
    }
  }
  command.endInput()
}
