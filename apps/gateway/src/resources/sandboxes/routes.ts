import { type Sandbox, SandboxService } from '@automation/contract/sandbox/v1/sandbox'
import { invalid } from '@automation/errors'
import type { CallContext, Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { onePage, pagingFields, presentPage, sandboxId } from '../../rest/parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import type { SandboxAddresses } from '../../sandbox-ports/addresses.ts'
import { presentSandbox, presentSandboxImage, sandboxImageRecord, sandboxRecord } from './record.ts'
import { int32, list, map, optionalText, requiredText, text } from '../../rest/fields.ts'

const timeout = () =>
  z.int({ error: ({ input }) => (input == null ? 'is required' : undefined) }).openapi({
    format: 'int64',
    minimum: 1000,
    maximum: 86_400_000,
    description: 'Milliseconds from now',
  })

const createSandboxInput = z
  .object({
    imageId: requiredText().openapi({ description: 'Of the catalogue of images' }),
    name: optionalText(),
    metadata: map(text()).nullish(),
    timeout: timeout().nullish(),
    publicHttpPorts: list(int32().openapi({ minimum: 1, maximum: 65_535 }), 20).nullish(),
    publicHttpPortsBasicAuth: optionalText().openapi({
      description:
        'user:credential for the public ports; the credential as text, or as a bcrypt, apr1, MD5 or {SHA} hash',
    }),
  })
  .openapi('CreateSandboxInput', {
    example: { imageId: 'base', name: 'try-out', timeout: 300_000, publicHttpPorts: [8000] },
  })

const updateSandboxInput = z
  .object({ timeout: timeout() })
  .openapi('UpdateSandboxInput', { example: { timeout: 600_000 } })

/** Waits for a sandbox that starts, and for its end. */
const SLOW_MS = 30_000

/** Sandboxes: create, change the timeout, kill, list, read. */
export function sandboxRoutes(api: RestApi, neighbours: Neighbours, addresses: () => SandboxAddresses): void {
  const sandboxes = neighbours.client(SandboxService)
  const presentFor =
    ({ principal }: CallContext) =>
    (sandbox: Sandbox) =>
      presentSandbox(sandbox, addresses(), principal)
  const tag = 'Sandboxes'
  const one = { path: '/sandboxes/{sandboxId}', tag, parameters: { sandboxId } }

  api.add(
    {
      method: 'get',
      scope: 'read',
      path: '/sandboxes',
      tag,
      summary: 'List sandboxes, newest first',
      query: z.object(pagingFields),
      success: onePage('sandboxes', 'SandboxesPaginatedResult', sandboxRecord),
    },
    async ({ query, context }) => {
      const list = await sandboxes.listSandboxes({ page: query }, context)
      return {
        body: presentPage(query, list.page, list.sandboxes.map(presentFor(context))),
      }
    },
  )

  api.add(
    {
      method: 'post',
      scope: 'build',
      path: '/sandboxes',
      tag,
      summary: 'Create a sandbox; it is RUNNING, or PENDING where it takes longer',
      body: createSandboxInput,
      timeoutMs: SLOW_MS,
      success: { status: 201, description: 'The new sandbox', schema: sandboxRecord },
      refusals: { 400: ['image_not_found'], 429: ['too_many_sandboxes'] },
    },
    async ({ body, context }) => {
      const { imageId, name, metadata, publicHttpPorts, publicHttpPortsBasicAuth } = body
      requirePorts(publicHttpPorts ?? [])
      const made = await sandboxes.createSandbox(
        {
          imageId,
          name,
          metadata: metadata ?? {},
          timeoutMs: body.timeout == null ? undefined : BigInt(body.timeout),
          publicHttpPorts: publicHttpPorts ?? [],
          publicHttpPortsBasicAuth,
        },
        context,
      )
      return { body: presentFor(context)(made) }
    },
  )

  // Added before `/sandboxes/{sandboxId}`, which would match this address too.
  api.add(
    {
      method: 'get',
      scope: 'read',
      path: '/sandboxes/images',
      tag,
      summary: 'List the images that sandboxes are made of',
      success: { status: 200, description: 'All of the catalogue', schema: z.array(sandboxImageRecord) },
    },
    async ({ context }) => ({
      body: (await sandboxes.listImages({}, context)).images.map(presentSandboxImage),
    }),
  )

  api.add(
    {
      ...one,
      method: 'get',
      scope: 'read',
      summary: 'Read a sandbox',
      success: { status: 200, description: 'The sandbox', schema: sandboxRecord },
    },
    async ({ params, context }) => ({
      body: presentFor(context)(await sandboxes.getSandbox({ id: params['sandboxId'] }, context)),
    }),
  )

  api.add(
    {
      ...one,
      method: 'post',
      scope: 'build',
      summary: 'Give a sandbox a new deadline: now and the timeout',
      body: updateSandboxInput,
      success: { status: 200, description: 'The changed sandbox', schema: sandboxRecord },
      refusals: { 400: ['sandbox_ended'] },
    },
    async ({ params, body, context }) => {
      const timeoutMs = BigInt(body.timeout)
      return {
        body: presentFor(context)(await sandboxes.updateSandbox({ id: params['sandboxId'], timeoutMs }, context)),
      }
    },
  )

  api.add(
    {
      ...one,
      method: 'post',
      scope: 'build',
      path: '/sandboxes/{sandboxId}/kill',
      summary: 'End a sandbox; one that has ended stays as it is',
      timeoutMs: SLOW_MS,
      success: { status: 200, description: 'The sandbox', schema: sandboxRecord },
    },
    async ({ params, context }) => ({
      body: presentFor(context)(await sandboxes.killSandbox({ id: params['sandboxId'] }, context)),
    }),
  )
}

/** A negative port can't be said in the contract. */
function requirePorts(ports: number[]): void {
  const wrong = ports.findIndex((port) => port < 0)
  if (wrong >= 0) throw invalid(`/publicHttpPorts/${wrong}`, 'must be a port from 1 to 65535')
}
