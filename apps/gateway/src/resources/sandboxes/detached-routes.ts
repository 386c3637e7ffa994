import { type Command, CommandService, type ListCommandsResponse } from '@automation/contract/sandbox/v1/daemon'
import type { Client } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { whenOver } from '../../http/exchange.ts'
import { moment, uuid } from '../../rest/fields.ts'
import type { Call } from '../../rest/operation.ts'
import { commandId, sandboxId } from '../../rest/parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { samples } from '../../rest/samples.ts'
import { presentTime } from '../../rest/time.ts'
import { attachCall, commandRefusal } from '../../sandbox-ports/command-call.ts'
import { callRefusals, type UserCalls } from '../../sandbox-ports/user-calls.ts'
import { type CommandDependencies, enter, linesReply, linesSuccess } from './command-answer.ts'

const detachedCommandRecord = z
  .object({
    commandId: uuid(),
    command: z.array(z.string()).openapi({ description: 'The program and its arguments' }),
    startedAt: moment(),
    exit: z
      .object({
        code: z.int().openapi({ format: 'int32', description: '0 to 255; -1 where a signal ended it' }),
        signal: z.string().optional(),
        timedOut: z.literal(true).optional(),
      })
      .openapi({ title: 'CommandExit' })
      .optional()
      .openapi({ description: 'How it ended; absent while it runs' }),
  })
  .openapi('DetachedCommand', {
    example: {
      commandId: samples.executionId,
      command: ['sh', '-c', 'echo Hello'],
      startedAt: samples.at,
      exit: { code: 0 },
    },
  })

/** Commands that go on without their callers: list, attach to one, end one. */
export function detachedCommandRoutes(api: RestApi, dependencies: CommandDependencies): void {
  const { config, userCalls } = dependencies
  const shared = { scope: 'build', tag: 'Sandboxes', refusals: callRefusals } as const
  const one = {
    ...shared,
    path: '/sandboxes/{sandboxId}/commands/{commandId}',
    parameters: { sandboxId, commandId },
  } as const

  api.add(
    {
      ...shared,
      method: 'get',
      path: '/sandboxes/{sandboxId}/commands',
      parameters: { sandboxId },
      summary: 'List the detached commands of a sandbox: those that run and the last that have ended, the oldest first',
      success: { status: 200, description: 'At most 32', schema: z.array(detachedCommandRecord) },
    },
    async (call) => {
      const commands = await commandsOf(call, userCalls)
      // The code in a sandbox may have put a daemon of its own in place of ours, which answers as it likes.
      const shown = ({ commands: all }: ListCommandsResponse) => all.filter(({ id }) => id !== '').map(presentDetached)
      return { body: await commands.listCommands({}, call.context).then(shown).catch(refused) }
    },
  )

  api.add(
    {
      ...one,
      method: 'get',
      summary: 'What a detached command has written, as far as it is kept, and what it writes until its end',
      success: linesSuccess,
      refusals: { ...callRefusals, 429: ['too_many_streams'] },
    },
    async (call) => {
      const { channel, ending } = await enter(call, dependencies)
      const { context, params } = call
      const options = { context, ending, timeoutMs: config.callTimeoutMs }
      const { responses } = await attachCall(channel, params['commandId'] ?? '', options)
      return linesReply(responses, call.exchange, dependencies)
    },
  )

  api.add(
    {
      ...one,
      method: 'delete',
      summary: 'End a detached command and all that it started, and forget what it wrote',
      success: { status: 204, description: 'It is gone' },
    },
    async (call) => {
      const commands = await commandsOf(call, userCalls)
      await commands.killCommand({ id: call.params['commandId'] }, call.context).catch(refused)
      return {}
    },
  )
}

async function commandsOf(
  { params, context, exchange }: Call<unknown, unknown>,
  userCalls: UserCalls,
): Promise<Client<typeof CommandService>> {
  const { channel, release } = await userCalls.open(params['sandboxId'] ?? '', context)
  whenOver(exchange, release)
  return channel.client(CommandService)
}

function refused(error: unknown): never {
  throw commandRefusal(error)
}

function presentDetached({ id, command, startedAt, ended }: Command): z.input<typeof detachedCommandRecord> {
  const exit = ended && {
    code: ended.exitCode,
    signal: ended.signal,
    ...(ended.timedOut && { timedOut: true as const }),
  }
  return { commandId: id, command, startedAt: presentTime(startedAt), exit }
}
