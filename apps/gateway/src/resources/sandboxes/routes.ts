import { SandboxService, type Sandbox } from '@automation/contract/sandbox/v1/sandbox'
import { invalid } from '@automation/errors'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { pageOf, pagingFields, presentPage } from '../../rest/paging.ts'
import { sandboxId } from '../../rest/path-parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import type { SandboxAddresses } from '../../sandbox-ports/addresses.ts'
import { createSandboxInput, updateSandboxInput } from './input.ts'
import { presentSandbox, sandboxRecord } from './record.ts'

/** Waits for a sandbox that starts, and for its end. */
const SLOW_MS = 30_000

/** Sandboxes: create, change the timeout, kill, list, read. */
export function sandboxRoutes(api: RestApi, neighbours: Neighbours, addresses: () => SandboxAddresses): void {
  const sandboxes = neighbours.client(SandboxService)
  const present = (sandbox: Sandbox) => presentSandbox(sandbox, addresses())
  const tag = 'Sandboxes'
  const one = { path: '/sandboxes/{sandboxId}', tag, parameters: { sandboxId } }

  api.add(
    {
      method: 'get',
      path: '/sandboxes',
      tag,
      summary: 'List sandboxes, newest first',
      query: z.object(pagingFields),
      success: {
        status: 200,
        description: 'One page of sandboxes',
        schema: pageOf('SandboxesPaginatedResult', sandboxRecord),
      },
    },
    async ({ query, context }) => {
      const list = await sandboxes.listSandboxes({ page: query }, context)
      return {
        body: presentPage(query, list.page, list.sandboxes.map(present)),
      }
    },
  )

  api.add(
    {
      method: 'post',
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
      return { body: present(made) }
    },
  )

  api.add(
    {
      ...one,
      method: 'get',
      summary: 'Read a sandbox',
      success: { status: 200, description: 'The sandbox', schema: sandboxRecord },
    },
    async ({ params, context }) => ({
      body: present(await sandboxes.getSandbox({ id: params['sandboxId'] }, context)),
    }),
  )

  api.add(
    {
      ...one,
      method: 'post',
      summary: 'Give a sandbox a new deadline: now and the timeout',
      body: updateSandboxInput,
      success: { status: 200, description: 'The changed sandbox', schema: sandboxRecord },
      refusals: { 400: ['sandbox_ended'] },
    },
    async ({ params, body, context }) => {
      const timeoutMs = BigInt(body.timeout)
      return {
        body: present(await sandboxes.updateSandbox({ id: params['sandboxId'], timeoutMs }, context)),
      }
    },
  )

  api.add(
    {
      ...one,
      method: 'post',
      path: '/sandboxes/{sandboxId}/kill',
      summary: 'End a sandbox; one that has ended stays as it is',
      timeoutMs: SLOW_MS,
      success: { status: 200, description: 'The sandbox', schema: sandboxRecord },
    },
    async ({ params, context }) => ({
      body: present(await sandboxes.killSandbox({ id: params['sandboxId'] }, context)),
    }),
  )
}

/** A negative port can't be said in the contract. */
function requirePorts(ports: number[]): void {
  const wrong = ports.findIndex((port) => port < 1)
  if (wrong >= 0) throw invalid(`/publicHttpPorts/${wrong}`, 'must be a port from 1 to 65535')
}
