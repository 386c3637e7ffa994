import type { Module } from '@automation/contract/catalog/v1/module'
import { z } from '@hono/zod-openapi'
import { languageName, presentLanguage, uuid } from '../../rest/fields.ts'
import { changed, leavesOut, made, presentWarnings, presentWriters, warnings } from '../../rest/shared-fields.ts'
import { described, digestText, presentDescription, presentStates, previousStates } from '../../rest/origin.ts'
import { samples } from '../../rest/samples.ts'

const DIGEST = digestText(['name', 'programmingLanguage', 'sourceCode'])

const shape = {
  id: uuid(),
  name: z.string(),
  programmingLanguage: languageName(),
  sourceCode: z.string(),
  ...made,
  ...changed,
  ...described(DIGEST),
}

export const moduleRecord = z.object({ ...shape, previousStates: previousStates(DIGEST), warnings }).openapi('Module', {
  example: { id: samples.id, name: 'shouting', ...samples.moduleCode, ...samples.made, ...samples.described },
})

/** One of a list. */
export const listedModuleRecord = z.object(shape).partial({ sourceCode: true }).openapi('ListedModule', leavesOut)

/** A module as JSON. */
export function presentModule(module: Module): z.input<typeof moduleRecord> {
  return { ...presentShape(module), previousStates: presentStates(module.previousStates) }
}

function presentShape(module: Module) {
  return {
    id: module.id,
    name: module.name,
    programmingLanguage: presentLanguage(module.language),
    sourceCode: module.sourceCode ?? '',
    ...presentWriters(module),
    ...presentDescription(module),
  }
}

/** The same as the answer to a write, which may have warnings. */
export function presentWrittenModule(module: Module): z.input<typeof moduleRecord> {
  return { ...presentModule(module), warnings: presentWarnings(module.warnings) }
}

/** The same for a list, where a source that is too large is left out. */
export function presentListedModule(module: Module): z.input<typeof listedModuleRecord> {
  return { ...presentShape(module), sourceCode: module.sourceCode }
}
