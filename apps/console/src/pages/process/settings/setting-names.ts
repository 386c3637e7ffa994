import type { Settings } from '../../../rules/process-settings.ts'

/** What the fields are called on the page. */
export const settingNames: Record<keyof Settings, string> = {
  name: 'Name',
  slug: 'Slug',
  description: 'Description',
  tags: 'Tags',
  schema: 'Schema of the parameters',
  hasForm: 'Form',
  formTag: 'Version of the form',
  frameAncestors: 'Pages that may show the form',
  isPublic: 'Link of the form',
}
