import { ModuleService } from '@automation/contract/catalog/v1/module'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { languageFrom } from '../../rest/fields.ts'
import { moduleId, onePage, pagingFields, presentPage } from '../../rest/parameters.ts'
import { emptyReply } from '../../rest/operation.ts'
import { tagged, taggedReply } from '../../rest/edits.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { moduleUsersPage, presentSourceUser } from './users.ts'
import { createModuleInput, updateModuleInput } from './input.ts'
import { listedModuleRecord, moduleRecord, presentListedModule, presentModule, presentWrittenModule } from './record.ts'

/** Modules: list, create, read, update, delete. */
export function moduleRoutes(api: RestApi, neighbours: Neighbours): void {
  const modules = neighbours.client(ModuleService)
  const one = { path: '/modules/{id}', tag: 'Modules', parameters: { id: moduleId } }

  api.add(
    {
      method: 'get',
      scope: 'read',
      path: '/modules',
      tag: 'Modules',
      summary: 'List modules, newest first',
      query: z.object(pagingFields),
      success: onePage('modules', 'ModulesPaginatedResult', listedModuleRecord),
    },
    async ({ query, context }) => {
      const list = await modules.listModules({ page: query }, context)
      return { body: presentPage(query, list.page, list.modules.map(presentListedModule)) }
    },
  )

  api.add(
    {
      method: 'post',
      scope: 'build',
      path: '/modules',
      tag: 'Modules',
      summary: 'Create a module',
      body: createModuleInput,
      success: tagged({ status: 201, description: 'The new module', schema: moduleRecord }),
      refusals: { 400: ['limit_reached', 'name_taken'] },
    },
    async ({ body, context }) => {
      const language = body.programmingLanguage ?? body.script?.programmingLanguage
      const values = {
        name: body.name ?? undefined,
        language: language == null ? undefined : languageFrom(language),
        sourceCode: body.sourceCode ?? body.script?.sourceCode ?? undefined,
        origin: body.origin ?? undefined,
      }
      const module = await modules.createModule(values, context)
      return taggedReply(module, presentWrittenModule(module))
    },
  )

  api.add(
    {
      ...one,
      method: 'get',
      scope: 'read',
      summary: 'Read a module',
      success: tagged({ status: 200, description: 'The module', schema: moduleRecord }),
    },
    async ({ params, context }) => {
      const module = await modules.getModule({ id: params['id'] }, context)
      return taggedReply(module, presentModule(module))
    },
  )

  api.add(
    {
      ...one,
      method: 'patch',
      scope: 'build',
      summary: 'Change a module; one that something imports keeps its name',
      body: updateModuleInput,
      conditional: true,
      success: tagged({ status: 200, description: 'The changed module', schema: moduleRecord }),
      refusals: { 400: ['name_taken'], 409: ['module_in_use'] },
    },
    async ({ params, body, ifMatch, context }) => {
      const change = {
        id: params['id'],
        name: body.name ?? undefined,
        sourceCode: body.sourceCode ?? body.script?.sourceCode ?? undefined,
        origin: body.origin ?? undefined,
        ifMatch,
      }
      const module = await modules.updateModule(change, context)
      return taggedReply(module, presentWrittenModule(module))
    },
  )

  api.add(
    {
      ...one,
      method: 'get',
      scope: 'read',
      path: '/modules/{id}/users',
      summary: 'List who imports a module: current sources and versions that have a literal import of it',
      query: z.object(pagingFields),
      success: { status: 200, description: 'One page of users, processes first, by name', schema: moduleUsersPage },
    },
    async ({ params, query, context }) => {
      const list = await modules.listModuleUsers({ id: params['id'], page: query }, context)
      const page = presentPage(query, list.page, list.users.map(presentSourceUser))
      return { body: { ...page, inOtherTeams: list.inOtherTeams } }
    },
  )

  api.add(
    {
      ...one,
      method: 'delete',
      scope: 'build',
      summary: 'Delete a module that nothing imports, with its versions and aliases',
      conditional: true,
      success: { status: 200, description: 'Deleted' },
      refusals: { 409: ['module_in_use'] },
    },
    ({ params, ifMatch, context }) => emptyReply(modules.deleteModule({ id: params['id'], ifMatch }, context)),
  )
}
