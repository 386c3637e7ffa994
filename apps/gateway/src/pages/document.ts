import type { OpenAPIHono } from '@hono/zod-openapi'
import type { GatewayConfig } from '../config.ts'
import { webhookPaths } from './webhook-paths.ts'

const DESCRIPTION = `Stores and runs code units (processes) for a team.

Get an access token: \`POST /api/{team}/rest/auth/token\` with the header \`x-api-token\`; then send it as
\`Authorization: Bearer\`. Every refusal is a problem (RFC 9457) with a stable \`code\`.`

/** Makes the OpenAPI 3.1 document of the routes, once, when it is first asked for; gives its text. */
export function openApiDocument(
  app: Pick<OpenAPIHono, 'openAPIRegistry' | 'getOpenAPI31Document'>,
  config: GatewayConfig,
): () => string {
  let text: string | undefined
  return () => {
    text ??= JSON.stringify(makeDocument(app, config))
    return text
  }
}

function makeDocument(app: Pick<OpenAPIHono, 'openAPIRegistry' | 'getOpenAPI31Document'>, config: GatewayConfig) {
  const registry = app.openAPIRegistry
  registry.registerComponent('securitySchemes', 'oauth2', {
    type: 'oauth2',
    flows: {
      clientCredentials: {
        tokenUrl: `${config.publicUrl}/api/%7Bteam%7D/rest/auth/token`,
        scopes: { executor: 'Everything that the REST interface offers' },
      },
    },
  })
  registry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' })
  registry.registerComponent('securitySchemes', 'webhook', { type: 'http', scheme: 'basic' })
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: { title: 'Process Automation Service', version: '1.0', description: DESCRIPTION },
    servers: [{ url: config.publicUrl }],
  })
  return { ...document, paths: { ...document.paths, ...webhookPaths(config.headerPrefix) } }
}
