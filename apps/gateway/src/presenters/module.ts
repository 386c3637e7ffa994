import type { Module } from '@automation/contract/catalog/v1/module'
import { presentLanguage } from './language.ts'
import { presentTime } from './time.ts'

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

/** The same for a list, where a source above 64 KiB is left out. */
export function presentListedModule(module: Module): Record<string, unknown> {
  return { ...presentModule(module), sourceCode: module.sourceCode }
}
