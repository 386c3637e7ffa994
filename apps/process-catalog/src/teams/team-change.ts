import type { Team } from '@automation/contract/catalog/v1/team'
import { invalid } from '@automation/errors'
import { Faults } from '@automation/errors/faults'
import type { FieldMask } from '@bufbuild/protobuf/wkt'
import { isUuid } from '@automation/contract/forms'
import { addressRanges } from '../fields/address-ranges.ts'
import { absentProcess, absentVersionOrAlias } from '../processes/absent.ts'
import { limits } from '../fields/limits.ts'
import { isSlug, isTag } from '../fields/names.ts'
import { pointerSegment, requiredText } from '../fields/text.ts'

/** What its members may change of a team; what is absent stays. */
export interface TeamChange {
  name?: string
  zoneId?: string
  paramsSchemaValidationEnabled?: boolean
  /** Sorted, each once. Whether the team may name them is not checked yet. */
  parentTeamSlugs?: string[]
  /** Whether the caller's own address is among them is not checked yet. */
  allowedAddresses?: string[]
  /** Null: there is none. Whether it is there is not checked yet. */
  errorHandlerSlug?: string | null
  errorHandlerTag?: string | null
}

const maxParents = 5

const readers = new Map<string, (values: Team) => TeamChange>([
  ['name', ({ name }) => ({ name: requiredText('/name', name, limits.nameCharacters) })],
  ['zone_id', ({ zoneId }) => ({ zoneId: zone('/zoneId', zoneId) })],
  ['parent_team_slugs', ({ parentTeamSlugs }) => ({ parentTeamSlugs: parents(parentTeamSlugs) })],
  [
    'allowed_addresses',
    ({ allowedAddresses }) => ({ allowedAddresses: addressRanges('/allowedAddresses', allowedAddresses) }),
  ],
  ['params_schema_validation_enabled', ({ paramsSchemaValidationEnabled }) => ({ paramsSchemaValidationEnabled })],
  ['error_handler_config', (values) => ({ ...handlerSlug(values), ...handlerTag(values) })],
  ['error_handler_config.process_slug', handlerSlug],
  ['error_handler_config.tag', handlerTag],
])

/** The change that a mask asks for, checked. Other fields of a team can't be changed so. */
export function teamChange(values: Team, mask: FieldMask | undefined): TeamChange {
  const faults = new Faults()
  const changes = (mask?.paths ?? []).map((path) => faults.of(() => read(path, values)))
  faults.check()
  return Object.assign({}, ...changes)
}

function parents(slugs: string[]): string[] {
  const different = [...new Set(slugs)].toSorted()
  if (different.length > maxParents) throw invalid('/parentTeamSlugs', `must have at most ${maxParents} teams`)
  return different
}

function handlerSlug({ errorHandlerConfig }: Team): TeamChange {
  if (errorHandlerConfig === undefined) return { errorHandlerSlug: null }
  const { processSlug } = errorHandlerConfig
  if (processSlug === '') throw invalid('/errorHandlerConfig/processSlug', 'is required')
  if (!isSlug(processSlug)) throw absentProcess(processSlug)
  return { errorHandlerSlug: processSlug }
}

function handlerTag({ errorHandlerConfig }: Team): TeamChange {
  const tag = errorHandlerConfig?.tag || null
  if (tag !== null && !isTag(tag) && !isUuid(tag)) throw absentVersionOrAlias(tag)
  return { errorHandlerTag: tag }
}

function read(path: string, values: Team): TeamChange {
  const reader = readers.get(path)
  if (reader === undefined) throw invalid(`/${pointerSegment(camelCase(path))}`, "can't be changed")
  return reader(values)
}

function camelCase(path: string): string {
  return path.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** A time zone by its IANA name, in the spelling that every runtime knows; offsets such as `+01:00` are no zones. */
function zone(path: string, value: string): string {
  const known = /^[A-Za-z]/.test(value) ? resolved(value) : undefined
  if (known === undefined) throw invalid(path, 'must be the IANA name of a time zone, such as Europe/Berlin')
  // An older name of a zone resolves to its present one: the caller's own is kept then.
  return known.toLowerCase() === value.toLowerCase() ? known : value
}

function resolved(timeZone: string): string | undefined {
  try {
    // Some names that Intl takes, such as PST, are of no zone that clocks are computed by.
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(timeZone)
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
