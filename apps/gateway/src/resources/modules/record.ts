import type { Module } from '@automation/contract/catalog/v1/module'
import { presentLanguage } from '../../rest/language.ts'
import { presentWarnings } from '../processes/record.ts'
import { presentTime } from '../../rest/time.ts'

/** A module as JSON. */
export function presentModule(module: Module): Record<string, unknown> {
  return {
    id: module.id,
    name: module.name,
    programmingLanguage: presentLanguage(module.language),
    sourceCode: module.sourceCode ?? '',
    createdBy: module.createdBy,
    createdAt: presentTime(module.createdAt),
    updatedBy: module.updatedBy,
    updatedAt: presentTime(module.updatedAt),
  }
}

/** The same as the answer to a write, which may have warnings. */
export function presentWrittenModule(module: Module): Record<string, unknown> {
  return { ...presentModule(module), warnings: presentWarnings(module.warnings) }
}

/** The same for a list, where a source that is too large is left out. */
export function presentListedModule(module: Module): Record<string, unknown> {
  return { ...presentModule(module), sourceCode: module.sourceCode }
}
