import { asFailure, type Failure } from '@automation/errors'
import type { Neighbours } from '@automation/rpc'
import type { Answer } from '../http/answer.ts'
import type { Exchange } from '../http/exchange.ts'
import { problemAnswer } from '../http/problem.ts'
import { noSuchRoute } from '../http/refusals.ts'
import { openApiDocument } from '../pages/document.ts'
import { pageAnswer, type PageSources } from '../pages/pages.ts'
import type { SandboxAddresses } from '../sandbox-ports/addresses.ts'
import type { OpenStreams } from '../streams/open-streams.ts'
import { aliasRoutes } from './aliases.ts'
import { auditEventRoutes } from './audit-events.ts'
import { dependencyRoutes } from './dependencies.ts'
import { executionRoutes } from './executions.ts'
import { liveStreamRoutes } from './live-stream.ts'
import { moduleRoutes } from './modules.ts'
import { processRoutes } from './processes.ts'
import { RestApi, type RestDependencies } from './rest-api.ts'
import { runRoutes } from './runs.ts'
import { sandboxRoutes } from './sandboxes.ts'
import { scheduleRoutes } from './schedules.ts'
import { signedDownloadRoutes, storageRoutes } from './storage.ts'
import { teamRoutes } from './team.ts'
import { tokenRoutes } from './token.ts'
import { variableRoutes } from './variables.ts'
import { moduleVersions, processVersions } from './version-owner.ts'
import { versionRoutes } from './versions.ts'

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
  const pages: PageSources = { ...dependencies, document: openApiDocument(api.app, config) }

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
