import { z } from '@hono/zod-openapi'
import { int32, moment, textMap, uuid } from '../rest/fields.ts'
import { AUDIT_TYPE_NAMES } from './audit/record.ts'
import { SANDBOX_STATUS_NAMES } from './sandboxes/record.ts'

/** The team and what it has beside its code and its runs; for the document only, presenters make them. */
export const teamRecord = z
  .object({
    slug: z.string(),
    name: z.string(),
    zoneId: z.string().openapi({ description: 'IANA name of the time zone' }),
    parentTeamSlugs: z.array(z.string()),
    paramsSchemaValidationEnabled: z.boolean(),
    errorHandlerConfig: z
      .object({ processSlug: z.string(), tag: z.string().optional() })
      .openapi({ title: 'ErrorHandlerConfig' })
      .optional()
      .openapi({ description: 'The process that runs after each execution that ends in ERROR' }),
    createdAt: moment(),
  })
  .openapi('Team')

export const sandboxRecord = z
  .object({
    id: uuid(),
    name: z.string(),
    status: z.enum(SANDBOX_STATUS_NAMES),
    reason: z.string().optional().openapi({ description: 'Why it failed, in words' }),
    grpcServerUrl: z.string().openapi({ description: 'Where its daemon answers gRPC' }),
    grpcApiKey: z.string().openapi({ description: 'For the metadata x-api-key of gRPC calls' }),
    imageId: z.string(),
    publicHttpPorts: z.array(int32()),
    publicUrls: textMap().openapi({ description: 'The address of each public port' }),
    metadata: textMap(),
    timeoutAt: moment().openapi({ description: 'When it is ended' }),
    createdBy: z.string(),
    createdAt: moment(),
  })
  .openapi('Sandbox')

export const storageObjectRecord = z
  .object({
    name: z.string(),
    size: z.int().openapi({ format: 'int64', description: 'Bytes' }),
    md5Hash: z.string().openapi({ description: 'Base64' }),
    contentType: z.string(),
    createdAt: moment(),
    updatedAt: moment().openapi({ description: 'When its content came' }),
    link: z.string().openapi({ description: 'Its address here' }),
  })
  .openapi('StorageObject')

export const signedUrlRecord = z.object({ url: z.string(), path: z.string(), expiresAt: moment() }).openapi('SignedUrl')

export const auditEventRecord = z
  .object({
    id: uuid(),
    type: z.enum(AUDIT_TYPE_NAMES),
    event: z.string().openapi({ description: 'What was done, such as created, updated, started or killed' }),
    entityId: z.string().openapi({ description: 'What it was done to' }),
    user: z.string().openapi({ description: 'Who did it, as in createdBy; system where nobody asked' }),
    initiatedBy: z
      .string()
      .optional()
      .openapi({ description: 'For whom it was done, where the caller said so in a header' }),
    ip: z.string().optional().openapi({ description: 'The address that the call came from' }),
    createdAt: moment(),
  })
  .openapi('AuditEvent')

export const tokenRecord = z
  .object({
    access_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.int().openapi({ format: 'int64', description: 'Seconds' }),
    scope: z.string(),
  })
  .openapi('Token')
