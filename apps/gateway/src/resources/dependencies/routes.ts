import { DependencyService } from '@automation/contract/catalog/v1/dependency'
import { invalid } from '@automation/errors'
import type { Neighbours } from '@automation/rpc'
import { z } from '@hono/zod-openapi'
import { languageFrom, map, text } from '../../rest/fields.ts'
import { languageParameter } from '../../rest/parameters.ts'
import { emptyReply } from '../../rest/operation.ts'
import type { RestApi } from '../../rest/rest-api.ts'
import { manifestRecord, presentManifest } from './record.ts'

const updateInput = z
  .object({
    dependencies: map(text())
      .nullish()
      .openapi({ description: 'Package names to semver ranges, PEP 440 specifiers or https git URLs; the full list' }),
  })
  .openapi('UpdateTeamDependenciesInput', { example: { dependencies: { ms: '^2.1.3' } } })

/** The team's dependencies of each language: read, stage, install, discard. */
export function dependencyRoutes(api: RestApi, neighbours: Neighbours): void {
  const dependencies = neighbours.client(DependencyService)
  const parameters = { language: languageParameter }
  const one = { path: '/dependencies/{language}', tag: 'Dependencies', parameters }
  const install = { ...one, path: '/dependencies/{language}/install' }
  const manifest = { status: 200 as const, description: 'The manifest', schema: manifestRecord }
  const languageOf = (params: Record<string, string>) => languageFrom(params['language'] as 'JAVASCRIPT' | 'PYTHON')

  api.add(
    { ...one, method: 'get', scope: 'read', summary: 'Read what is installed and staged', success: manifest },
    async ({ params, context }) => ({
      body: presentManifest(await dependencies.getManifest({ language: languageOf(params) }, context)),
    }),
  )

  api.add(
    {
      ...one,
      method: 'put',
      scope: 'build',
      summary: 'Stage dependencies; nothing is installed yet',
      body: updateInput,
      success: { ...manifest, description: 'The manifest with what is staged' },
      refusals: { 400: ['installation_under_way'] },
    },
    async ({ params, body, context }) => {
      if (body.dependencies == null) throw invalid('/dependencies', 'is required')
      const request = { language: languageOf(params), dependencies: body.dependencies }
      return { body: presentManifest(await dependencies.stageDependencies(request, context)) }
    },
  )

  api.add(
    {
      ...install,
      method: 'post',
      scope: 'build',
      summary: 'Install what is staged; runs see what was installed before until it has succeeded',
      success: { status: 200, description: 'The installation begins' },
      refusals: { 400: ['installation_under_way', 'nothing_staged'] },
    },
    ({ params, context }) => emptyReply(dependencies.installDependencies({ language: languageOf(params) }, context)),
  )

  api.add(
    {
      ...install,
      method: 'delete',
      scope: 'build',
      summary: 'Discard what is staged',
      success: manifest,
      refusals: { 400: ['installation_under_way', 'nothing_staged'] },
    },
    async ({ params, context }) => ({
      body: presentManifest(await dependencies.discardDependencies({ language: languageOf(params) }, context)),
    }),
  )
}
