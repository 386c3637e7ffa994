import { asFailure, type Failure } from '@automation/errors'
import type { Neighbours } from '@automation/rpc'
import type { Answer } from './http/answer.ts'
import type { Exchange } from './http/exchange.ts'
import { problemAnswer } from './http/problem.ts'
import { noSuchRoute } from './http/refusals.ts'
import { openApiDocument } from './openapi/document.ts'
import { pageAnswer, type PageSources } from './pages.ts'
import type { SandboxAddresses } from './sandbox-ports/addresses.ts'
import type { OpenStreams } from './streams/open-streams.ts'
import { aliasRoutes } from './resources/aliases/routes.ts'
import { auditEventRoutes } from './resources/audit/routes.ts'
import { dependencyRoutes } from './resources/dependencies/routes.ts'
import { executionRoutes } from './resources/executions/routes.ts'
import { liveStreamRoutes } from './resources/executions/live-stream.ts'
import { moduleRoutes } from './resources/modules/routes.ts'
import { processRoutes } from './resources/processes/routes.ts'
import { RestApi, type RestDependencies } from './rest/rest-api.ts'
import { runRoutes } from './resources/executions/start-routes.ts'
import { sandboxRoutes } from './resources/sandboxes/routes.ts'
import { scheduleRoutes } from './resources/schedules/routes.ts'
import { signedDownloadRoutes, storageRoutes } from './resources/storage/routes.ts'
import { teamRoutes } from './resources/team/routes.ts'
import { tokenRoutes } from './resources/tokens/routes.ts'
import { variableRoutes } from './resources/variables/routes.ts'
import { moduleVersions, processVersions } from './resources/versions/owner.ts'
import { versionRoutes } from './resources/versions/routes.ts'

export interface RestAppDependencies extends RestDependencies, Omit<PageSources, 'document'> {
  neighbours: Neighbours
  streams: OpenStreams
  sandboxAddresses: () => SandboxAddresses
}

/** The REST interface with all of its routes, and the pages beside it, as one Hono app. */
export function restApp(dependencies: RestAppDependencies): RestApi['app'] {
  const { config, neighbours, report } = dependencies
  const api = new RestApi(dependencies)
  processRoutes(api, neighbours)
  versionRoutes(api, neighbours, processVersions)
  aliasRoutes(api, neighbours, processVersions)
  moduleRoutes(api, neighbours)
  versionRoutes(api, neighbours, moduleVersions)
  aliasRoutes(api, neighbours, moduleVersions)
  runRoutes(api, neighbours, config)
  executionRoutes(api, neighbours)
  scheduleRoutes(api, neighbours)
  liveStreamRoutes(api, dependencies)
  variableRoutes(api, neighbours)
  dependencyRoutes(api, neighbours)
  sandboxRoutes(api, neighbours, dependencies.sandboxAddresses)
  storageRoutes(api, dependencies)
  signedDownloadRoutes(api, dependencies)
  teamRoutes(api, neighbours)
  auditEventRoutes(api, neighbours)
  tokenRoutes(api, dependencies)
  api.close()
  const pages: PageSources = { ...dependencies, document: openApiDocument(api.operations, config) }

  const refusal = (failure: Failure, exchange: Exchange): Response => {
    report(failure, exchange)
    const { requestId, path, incoming } = exchange
    const { accept } = incoming.headers
    return responseOf(
      problemAnswer(failure, { requestId, path, executionIdHeader: `${config.headerPrefix}Execution-ID`, accept }),
    )
  }
  api.app.notFound(async (c) => {
    const answer = await pageAnswer(c.env.exchange, pages)
    if (answer === undefined) return refusal(noSuchRoute(), c.env.exchange)
    c.env.exchange.route = c.env.exchange.path
    return responseOf(answer)
  })
  api.app.onError((error, c) => refusal(asFailure(error), c.env.exchange))
  return api.app
}

function responseOf({ status, headers, body }: Answer): Response {
  return new Response(body as string, { status, headers: headers as Record<string, string> })
}
