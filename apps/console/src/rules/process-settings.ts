import type { Schemas } from '../api/client.ts'
import { wordsOf } from './header-lines.ts'

/** What the page of settings lets people type. */
export interface Settings {
  name: string
  slug: string
  description: string
  /** With commas between. */
  tags: string
  /** JSON; empty for none. */
  schema: string
  hasForm: boolean
  formTag: string
  /** Origins, one a line. */
  frameAncestors: string
  isPublic: boolean
}

export const settingsOf = (process: Schemas['Process']): Settings => {
  const { formsConfig, publicConfig } = process.settings
  return {
    name: process.name,
    slug: process.slug,
    description: process.description ?? '',
    tags: process.tags.join(', '),
    schema: process.parametersSchema === null ? '' : JSON.stringify(process.parametersSchema, undefined, 2),
    hasForm: formsConfig.enabled,
    formTag: formsConfig.tag ?? '',
    frameAncestors: (formsConfig.frameAncestors ?? []).join('\n'),
    isPublic: publicConfig.enabled,
  }
}

/** The change of a process that makes its settings so; what is not named stays. */
export function settingsInput(changes: Partial<Settings>): Schemas['UpdateProcessInput'] {
  const { name, slug, description, tags, schema } = changes
  const settings = settingsPart(changes)
  return {
    ...(name !== undefined && { name: name.trim() }),
    ...(slug !== undefined && { slug: slug.trim() }),
    ...(description !== undefined && { description: description.trim() || null }),
    ...(tags !== undefined && { tags: tagsOf(tags) }),
    ...(schema !== undefined && { parametersSchema: schema.trim() || null }),
    ...(Object.keys(settings).length > 0 && { settings }),
  }
}

function settingsPart({ hasForm, formTag, frameAncestors, isPublic }: Partial<Settings>): Schemas['SettingsInput'] {
  const formsConfig = {
    ...(hasForm !== undefined && { enabled: hasForm }),
    ...(formTag !== undefined && { tag: formTag.trim() || null }),
    ...(frameAncestors !== undefined && { frameAncestors: wordsOf(frameAncestors) }),
  }
  return {
    ...(Object.keys(formsConfig).length > 0 && { formsConfig }),
    ...(isPublic !== undefined && { publicConfig: { enabled: isPublic } }),
  }
}

/** Tags that are typed with commas between; each once. */
export const tagsOf = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
  ),
]
