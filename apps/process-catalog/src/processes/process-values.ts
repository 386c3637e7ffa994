import type { ProcessValues } from '@automation/contract/catalog/v1/process'
import { linkTokenCharacters } from '@automation/contract/forms'
import { invalid } from '@automation/errors'
import { Faults } from '@automation/errors/faults'
import { checkManifest } from '../dependencies/manifest.ts'
import { addressRanges } from '../fields/address-ranges.ts'
import { formTag, frameAncestors, newPublicToken } from './form-values.ts'
import type { LanguageName } from '../fields/language.ts'
import { limits } from '../fields/limits.ts'
import { explicitSlug } from '../fields/names.ts'
import { originText } from './origin.ts'
import { optionalText, pointerSegment, requiredText, text } from '../fields/text.ts'
import { requireBoth, webhookPassword, webhookUsername, type CredentialsChange } from './webhook-credentials.ts'

/** The columns of a process that its writers decide on, apart from the webhook's credentials. */
export interface ProcessColumns {
  name: string
  slug: string
  description: string | null
  readme: string | null
  sourceCode: string
  parametersSchema: string | null
  webhookEnabled: boolean
  webhookAllowedAddresses: string[]
  formsEnabled: boolean
  publicEnabled: boolean
  publicToken: string | null
  formsTag: string | null
  frameAncestors: string[]
  dependenciesScopedToProcess: boolean
  dependenciesAutoDetect: boolean
  /** JSON text. */
  dependencies: string
  tags: string[]
  /** JSON text. */
  origin: string | null
}

/** A checked change: absent columns stay as they are. Whether a schema is JSON Schema is checked apart. */
export interface ProcessChange {
  columns: Partial<ProcessColumns>
  credentials: CredentialsChange
}

type Field = Exclude<keyof ProcessValues, '$typeName' | '$unknown' | 'language'>
type Reader = (values: ProcessValues, change: ProcessChange) => void

// What can't be empty counts as absent where it is, so that a null in a PATCH leaves it alone.
const readers: Record<Field, Reader> = {
  name: ({ name }, { columns }) => {
    if (name !== undefined) columns.name = requiredText('/name', name, limits.nameCharacters)
  },
  slug: ({ slug }, { columns }) => {
    if (slug !== undefined) columns.slug = explicitSlug(slug)
  },
  description: ({ description }, { columns }) => {
    columns.description = optionalText('/description', description, limits.descriptionCharacters)
  },
  readme: ({ readme }, { columns }) => {
    columns.readme = optionalText('/readme', readme, limits.readmeCharacters)
  },
  sourceCode: ({ sourceCode }, { columns }) => {
    if (sourceCode !== undefined) columns.sourceCode = text('/sourceCode', sourceCode, limits.sourceCodeCharacters)
  },
  parametersSchema: ({ parametersSchema }, { columns }) => {
    columns.parametersSchema = schemaText(parametersSchema)
  },
  webhookEnabled: (values, { columns }) => {
    columns.webhookEnabled = values.webhookEnabled ?? false
  },
  webhookUsername: (values, { credentials }) => {
    credentials.username = webhookUsername(values.webhookUsername)
  },
  webhookPassword: (values, { credentials }) => {
    credentials.password = webhookPassword(values.webhookPassword)
  },
  webhookAllowedAddresses: ({ webhookAllowedAddresses }, { columns }) => {
    columns.webhookAllowedAddresses = addressRanges('/webhook/allowedAddresses', webhookAllowedAddresses)
  },
  formsEnabled: (values, { columns }) => {
    columns.formsEnabled = values.formsEnabled ?? false
  },
  publicEnabled: (values, { columns }) => {
    columns.publicEnabled = values.publicEnabled ?? false
  },
  publicToken: ({ publicToken }, { columns }) => {
    columns.publicToken = linkToken(publicToken)
  },
  formsTag: (values, { columns }) => {
    columns.formsTag = formTag(values.formsTag)
  },
  frameAncestors: (values, { columns }) => {
    columns.frameAncestors = frameAncestors(values.frameAncestors)
  },
  dependenciesScopedToProcess: (values, { columns }) => {
    columns.dependenciesScopedToProcess = values.dependenciesScopedToProcess ?? false
  },
  dependenciesAutoDetect: (values, { columns }) => {
    columns.dependenciesAutoDetect = values.dependenciesAutoDetect ?? false
  },
  dependencies: ({ dependencies }, { columns }) => {
    columns.dependencies = dependenciesText(dependencies)
  },
  tags: ({ tags }, { columns }) => {
    columns.tags = processTags(tags)
  },
  origin: ({ origin }, { columns }) => {
    columns.origin = originText(origin)
  },
}

function linkToken(token: string | undefined): string | null {
  const path = '/settings/publicConfig/token'
  if (token !== undefined && token.length < linkTokenCharacters)
    throw invalid(path, `must have at least ${linkTokenCharacters} characters; one is made where none is given`)
  return optionalText(path, token, limits.publicTokenCharacters)
}

const fieldOfPath = new Map(
  (Object.keys(readers) as Field[]).map((field) => [
    field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    field,
  ]),
)

/** What a new process is made of. The slug is absent where it is to be derived from the name. */
export interface NewProcess {
  columns: Omit<ProcessColumns, 'slug'> & { slug?: string }
  credentials: CredentialsChange
}

/** What packages may be named. */
export interface ManifestRules {
  language: LanguageName
  /** Whether they may come from git. */
  allowGit: boolean
}

/** Checks the values of a new process. */
export function newProcess(values: ProcessValues, manifests: ManifestRules): NewProcess {
  const change: ProcessChange = { columns: { sourceCode: '' }, credentials: {} }
  const faults = new Faults()
  if (values.name === undefined) faults.add('/name', 'is required')
  for (const [field, read] of Object.entries(readers)) {
    // An empty slug on create is what a form sends that was not filled in.
    if (field !== 'slug' || values.slug !== '') faults.of(() => read(values, change))
  }
  faults.of(() => requireBoth(values.webhookUsername, values.webhookPassword))
  faults.of(() => requireManifest(values, change, manifests))
  faults.check()
  if (values.dependenciesScopedToProcess === undefined) wantOwnSet(values, change)
  if (change.columns.publicEnabled === true) change.columns.publicToken ||= newPublicToken()
  return change as NewProcess
}

/**
 * The change that a field mask asks for; an origin that it does not name is cleared. `language` is named in vain; a field that
 * no process has is invalid. `manifests`: what packages are held against, where the mask names them.
 */
export function maskedChange(values: ProcessValues, paths: string[], manifests?: ManifestRules): ProcessChange {
  const change: ProcessChange = { columns: { origin: null }, credentials: {} }
  const faults = new Faults()
  for (const path of paths) {
    if (path === 'language') continue
    const field = fieldOfPath.get(path)
    if (field === undefined) throw invalid(`/${pointerSegment(path)}`, 'is no field of a process')
    faults.of(() => readers[field](values, change))
  }
  if (manifests !== undefined) faults.of(() => requireManifest(values, change, manifests))
  faults.check()
  if (paths.includes('dependencies') && !paths.includes('dependencies_scoped_to_process')) wantOwnSet(values, change)
  return change
}

function requireManifest({ dependencies }: ProcessValues, { columns }: ProcessChange, rules: ManifestRules): void {
  // Of a text that is refused as it is, its reader tells.
  if (columns.dependencies === undefined) return
  checkManifest('/manifest/dependencies', rules.language, dependencies, rules.allowGit)
}

/** Who writes packages for a process, and not whose they are to be, means those of the process. */
function wantOwnSet({ dependencies }: ProcessValues, { columns }: ProcessChange): void {
  if (Object.keys(dependencies).length > 0) columns.dependenciesScopedToProcess = true
}

/** A schema's text; an empty one is none. */
export function schemaText(value: string | undefined): string | null {
  if (value === undefined || value === '') return null
  return text('/parametersSchema', value, limits.parametersSchemaCharacters)
}

function dependenciesText(dependencies: Record<string, string>): string {
  const entries = Object.entries(dependencies)
  if (entries.length > limits.dependencyCount)
    throw invalid('/manifest/dependencies', `must have at most ${limits.dependencyCount} entries`)
  const faults = new Faults()
  for (const [name, version] of entries) {
    const path = `/manifest/dependencies/${pointerSegment(name.slice(0, limits.nameCharacters).replaceAll('\0', ''))}`
    faults.of(() => {
      requiredText(path, name, limits.nameCharacters)
      text(path, version, limits.dependencyCharacters)
    })
  }
  faults.check()
  return JSON.stringify(dependencies)
}

function processTags(tags: string[]): string[] {
  if (tags.length > limits.tagCount) throw invalid('/tags', `must have at most ${limits.tagCount} entries`)
  const faults = new Faults()
  for (const [index, tag] of tags.entries()) faults.of(() => requiredText(`/tags/${index}`, tag, limits.tagCharacters))
  faults.check()
  return [...new Set(tags)]
}
