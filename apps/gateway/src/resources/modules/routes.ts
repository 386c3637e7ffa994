import { ModuleService } from '@automation/contract/catalog/v1/module'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { languageFrom } from '../../rest/fields.ts'
import { pageOf, pagingFields, presentPage } from '../../rest/paging.ts'
import { moduleId } from '../../rest/path-parameters.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { createModuleInput, updateModuleInput } from './input.ts'
import { listedModuleRecord, moduleRecord, presentListedModule, presentModule, presentWrittenModule } from './record.ts'

/** Modules: list, create, read, update, delete. */
export function moduleRoutes(api: RestApi, neighbours: Neighbours): void {
  const modules = neighbours.client(ModuleService)
  const one = { path: '/modules/{id}', tag: 'Modules', parameters: { id: moduleId } }

  api.add(
    {
      method: 'get',
      path: '/modules',
      tag: 'Modules',
      summary: 'List modules, newest first',
      query: z.object(pagingFields),
      success: {
        status: 200,
        description: 'One page of modules',
        schema: pageOf('ModulesPaginatedResult', listedModuleRecord),
      },
    },
    async ({ query, context }) => {
      const list = await modules.listModules({ page: query }, context)
      return { body: presentPage(query, list.page, list.modules.map(presentListedModule)) }
    },
  )

  api.add(
    {
      method: 'post',
      path: '/modules',
      tag: 'Modules',
      summary: 'Create a module',
      body: createModuleInput,
      success: { status: 201, description: 'The new module', schema: moduleRecord },
      refusals: { 400: ['limit_reached', 'name_taken'] },
    },
    async ({ body, context }) => {
      const language = body.programmingLanguage ?? body.script?.programmingLanguage
      const values = {
        name: body.name ?? undefined,
        language: language == null ? undefined : languageFrom(language),
        sourceCode: body.sourceCode ?? body.script?.sourceCode ?? undefined,
      }
      return { body: presentWrittenModule(await modules.createModule(values, context)) }
    },
  )

  api.add(
    {
      ...one,
      method: 'get',
      summary: 'Read a module',
      success: { status: 200, description: 'The module', schema: moduleRecord },
    },
    async ({ params, context }) => ({ body: presentModule(await modules.getModule({ id: params['id'] }, context)) }),
  )

  api.add(
    {
      ...one,
      method: 'patch',
      summary: 'Change a module; one that something imports keeps its name',
      body: updateModuleInput,
      success: { status: 200, description: 'The changed module', schema: moduleRecord },
      refusals: { 400: ['name_taken'], 409: ['module_in_use'] },
    },
    async ({ params, body, context }) => {
      const change = {
        id: params['id'],
        name: body.name ?? undefined,
        sourceCode: body.sourceCode ?? body.script?.sourceCode ?? undefined,
      }
      return { body: presentWrittenModule(await modules.updateModule(change, context)) }
    },
  )

  api.add(
    {
      ...one,
      method: 'delete',
      summary: 'Delete a module that nothing imports, with its versions and aliases',
      success: { status: 200, description: 'Deleted' },
      refusals: { 409: ['module_in_use'] },
    },
    async ({ params, context }) => {
      await modules.deleteModule({ id: params['id'] }, context)
      return {}
    },
  )
}
