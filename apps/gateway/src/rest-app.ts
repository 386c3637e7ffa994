import { asFailure, type Failure } from '@automation/errors'
import type { Answer, Exchange } from './http/exchange.ts'
import { problemAnswer } from './http/problem.ts'
import { noSuchRoute } from './http/refusals.ts'
import type { CallsPerSecond } from './auth/call-limits.ts'
import { metadataUrlOf } from './auth/oauth-metadata.ts'
import type { Forms } from './forms/open-form.ts'
import { formRoutes } from './forms/routes.ts'
import { openApiDocument } from './openapi/document.ts'
import { pageAnswer, type PageSources } from './pages.ts'
import type { SandboxAddresses } from './sandbox-ports/addresses.ts'
import { LiveStreams } from './streams/live-streams.ts'
import type { UserCalls } from './sandbox-ports/user-calls.ts'
import type { OpenStreams } from './streams/open-streams.ts'
import type { TeamChanges } from './streams/team-changes.ts'
import { aliasRoutes } from './resources/aliases/routes.ts'
import { auditEventRoutes } from './resources/audit/routes.ts'
import { codeRoutes } from './resources/code/routes.ts'
import { datastoreRoutes } from './resources/datastore/routes.ts'
import { eventRoutes } from './resources/events/routes.ts'
import { installRoutes } from './resources/dependencies/install-routes.ts'
import { dependencyRoutes } from './resources/dependencies/routes.ts'
import { repeatRoutes } from './resources/executions/repeat-routes.ts'
import { executionRoutes } from './resources/executions/routes.ts'
import { executionLookRoutes } from './resources/executions/look-routes.ts'
import { liveStreamRoutes } from './resources/executions/live-stream.ts'
import { logRoutes } from './resources/executions/log-routes.ts'
import { limitRoutes } from './resources/limits/routes.ts'
import { McpEntry } from './mcp/mcp-entry.ts'
import { moduleRoutes } from './resources/modules/routes.ts'
import { processRoutes } from './resources/processes/routes.ts'
import { processSummaryRoutes } from './resources/processes/summary-routes.ts'
import { RestApi, type RestDependencies } from './rest/rest-api.ts'
import { startRoutes } from './resources/executions/start-routes.ts'
import { sandboxCommandRoutes } from './resources/sandboxes/command-routes.ts'
import { detachedCommandRoutes } from './resources/sandboxes/detached-routes.ts'
import { sandboxFileRoutes } from './resources/sandboxes/file-routes.ts'
import { terminalRoutes } from './resources/sandboxes/terminal-routes.ts'
import { sandboxRoutes } from './resources/sandboxes/routes.ts'
import { firingRoutes } from './resources/schedules/firing-routes.ts'
import { scheduleRoutes } from './resources/schedules/routes.ts'
import { sourceRoutes } from './resources/sources/routes.ts'
import { statisticsRoutes } from './resources/statistics/routes.ts'
import { signedDownloadRoutes, storageRoutes } from './resources/storage/routes.ts'
import { uploadRoutes } from './resources/storage/upload-routes.ts'
import { serviceAccountRoutes } from './resources/service-accounts/routes.ts'
import { teamRoutes } from './resources/team/routes.ts'
import { tokenRoutes } from './resources/tokens/routes.ts'
import { variableRoutes } from './resources/variables/routes.ts'
import { moduleVersions, processVersions } from './resources/versions/owner.ts'
import { versionRoutes } from './resources/versions/routes.ts'
import { duringUpgrade } from './rest/upgrading.ts'
import { deliveryRoutes } from './webhooks/delivery-routes.ts'
import { sendRoutes } from './webhooks/send-routes.ts'
import type { WebhookEntry } from './webhooks/webhook-entry.ts'

interface RestAppDependencies extends RestDependencies, Omit<PageSources, 'document' | 'config'> {
  streams: OpenStreams
  teamChanges: TeamChanges
  webhooks: WebhookEntry
  forms: Forms
  callsPerSecond: CallsPerSecond
  /** How many gateways there are. */
  gateways: () => number
  sandboxAddresses: () => SandboxAddresses
  userCalls: UserCalls
}

/** The REST interface with all of its routes, and the pages beside it, as one Hono app. */
export function restApp(dependencies: RestAppDependencies): RestApi['app'] {
  const { config, neighbours, report } = dependencies
  const api = new RestApi(dependencies)
  const streams = new LiveStreams(dependencies)
  // Before a process by its slug, which has the same address but for the word.
  processSummaryRoutes(api, neighbours)
  processRoutes(api, neighbours)
  sendRoutes(api, dependencies)
  deliveryRoutes(api, dependencies)
  versionRoutes(api, neighbours, processVersions)
  aliasRoutes(api, neighbours, processVersions)
  moduleRoutes(api, neighbours)
  versionRoutes(api, neighbours, moduleVersions)
  aliasRoutes(api, neighbours, moduleVersions)
  sourceRoutes(api, neighbours)
  startRoutes(api, neighbours, config)
  repeatRoutes(api, neighbours, config)
  codeRoutes(api, dependencies)
  formRoutes(api, dependencies)
  // Before an execution by its id, which has the same address but for the word.
  statisticsRoutes(api, neighbours)
  executionRoutes(api, neighbours)
  firingRoutes(api, neighbours)
  executionLookRoutes(api, neighbours)
  scheduleRoutes(api, neighbours)
  logRoutes(api, dependencies)
  liveStreamRoutes(api, neighbours, streams)
  eventRoutes(api, neighbours, streams, dependencies.teamChanges)
  variableRoutes(api, neighbours)
  dependencyRoutes(api, neighbours)
  installRoutes(api, neighbours)
  datastoreRoutes(api, neighbours)
  limitRoutes(api, dependencies)
  sandboxRoutes(api, neighbours, dependencies.sandboxAddresses)
  sandboxCommandRoutes(api, dependencies)
  detachedCommandRoutes(api, dependencies)
  sandboxFileRoutes(api, dependencies)
  terminalRoutes(api, dependencies)
  storageRoutes(api, dependencies)
  uploadRoutes(api, dependencies)
  signedDownloadRoutes(api, dependencies)
  teamRoutes(api, neighbours)
  auditEventRoutes(api, neighbours)
  tokenRoutes(api, dependencies)
  serviceAccountRoutes(api, neighbours)
  api.close()
  const document = openApiDocument(api.operations, config)
  const pages: PageSources = { ...dependencies, document }
  const mcp = new McpEntry({ ...dependencies, app: api.app, document })
  api.app.all('/api/:team/mcp', (c) => mcp.answer(c.env.exchange, c.req.param('team')))

  const refusal = (failure: Failure, exchange: Exchange): Response => {
    report(failure, exchange)
    const { requestId, path, incoming } = exchange
    const { accept } = incoming.headers
    const executionIdHeader = `${config.headerPrefix}Execution-ID`
    const metadataUrl = metadataUrlOf(path, config)
    return responseOf(problemAnswer(failure, { requestId, path, executionIdHeader, metadataUrl, accept }))
  }
  api.app.notFound(async (c) => {
    const answer = await pageAnswer(c.env.exchange, pages)
    if (answer === undefined) return refusal(noSuchRoute(), c.env.exchange)
    // Of their paths only those of metadata have a part that callers choose.
    c.env.exchange.route = c.env.exchange.path.replace(/\/api\/[^/]+\//, '/api/{team}/')
    return responseOf(answer)
  })
  api.app.onError((error, c) => refusal(duringUpgrade(asFailure(error)), c.env.exchange))
  return api.app
}

function responseOf({ status, headers, body }: Answer): Response {
  return new Response(body as string, { status, headers: headers as Record<string, string> })
}
