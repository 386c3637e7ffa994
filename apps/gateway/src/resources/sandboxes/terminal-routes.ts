import { z } from '@hono/zod-openapi'
import { malformedRequest } from '../../http/refusals.ts'
import { sandboxId, wholeNumber } from '../../rest/parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { callRefusals, type UserCalls } from '../../sandbox-ports/user-calls.ts'

const cells = (description: string, usual: number) =>
  wholeNumber(1, 1000, usual).openapi({
    type: 'integer',
    format: 'int32',
    minimum: 1,
    maximum: 1000,
    default: usual,
    description,
  })

/** What the address of a terminal may have behind its path. */
export const terminalQuery = z.object({ cols: cells('Characters in a line', 80), rows: cells('Lines', 24) })

const summary = 'Open a terminal in a sandbox: a WebSocket of version 13'
const description =
  `A WebSocket. Binary frames are bytes both ways: what is typed, and what is shown. A text frame {"resize": {"cols", "rows"}}
changes the size. The last frame before the end is text: {"exit": {"code", "signal"}}, or {"error": {"code", "message"}}. A browser,
which sets no headers, brings the access token as a subprotocol: bearer, and the token`.replaceAll('\n', ' ')

/** Terminals in the document. WebSockets come another way (terminals/terminal-entry.ts); what comes here is none. */
export function terminalRoutes(api: RestApi, { userCalls }: { userCalls: UserCalls }): void {
  api.add(
    {
      method: 'get',
      path: '/sandboxes/{sandboxId}/terminal',
      tag: 'Sandboxes',
      scope: 'build',
      summary,
      parameters: { sandboxId },
      query: terminalQuery,
      success: { status: 101, description, headers: { 'Sec-WebSocket-Accept': 'As RFC 6455 has it' } },
      refusals: {
        ...callRefusals,
        400: [...callRefusals[400], 'malformed_request', 'terminal_unavailable'],
        429: ['too_many_streams'],
      },
    },
    async ({ params, context }) => {
      const { release } = await userCalls.open(params['sandboxId'] ?? '', context)
      release()
      throw malformedRequest('This address takes WebSockets of version 13 alone')
    },
  )
}
