import type { Schemas } from '../api/client.ts'
import { isSame, typedSince } from './drafts.ts'

type Team = Schemas['Team']

/** What the form of a team has typed in it. */
export interface TypedTeam {
  name: string
  zoneId: string
  parents: string
  addresses: string
  isChecked: boolean
  handler: string
  tag: string
}

export const typedTeam = (team: Team): TypedTeam => ({
  name: team.name,
  zoneId: team.zoneId,
  parents: team.parentTeamSlugs.join(', '),
  addresses: team.allowedAddresses.join('\n'),
  isChecked: team.paramsSchemaValidationEnabled,
  handler: team.errorHandlerConfig?.processSlug ?? '',
  tag: team.errorHandlerConfig?.tag ?? '',
})

const wordsIn = (text: string) => text.split(/[\s,]+/).filter(Boolean)

export const teamInput = (typed: TypedTeam): Schemas['UpdateTeamInput'] => ({
  name: typed.name,
  zoneId: typed.zoneId,
  parentTeamSlugs: wordsIn(typed.parents),
  allowedAddresses: wordsIn(typed.addresses),
  paramsSchemaValidationEnabled: typed.isChecked,
  errorHandlerConfig: typed.handler === '' ? null : { processSlug: typed.handler, tag: typed.tag || null },
})

export const isTyped = (typed: TypedTeam, before: Team): boolean => !isSame(typed, typedTeam(before))

/** What the form shows after `sent` was saved: the team as it is now, and what was typed meanwhile. */
export const afterSave = (typed: TypedTeam, sent: TypedTeam, saved: Team): TypedTeam => ({
  ...typedTeam(saved),
  ...typedSince(typed, sent),
})
