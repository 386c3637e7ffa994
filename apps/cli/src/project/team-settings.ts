import { join } from 'node:path'
import { ApiError, type Client, type Team } from '@automation/client'
import { readText } from './checkout.ts'
import { teamData, type ExportedSettings } from './team-data.ts'

/** What pas.yaml does not name of a team. */
export function exportedSettings(team: Team): ExportedSettings {
  const { slug, name, paramsSchemaValidationEnabled, parentTeamSlugs, allowedAddresses } = team
  return { paramsSchemaValidationEnabled, ...(name !== slug && { name }), parentTeamSlugs, allowedAddresses }
}

/** What came of settings: how many were written, and which could not be, with what to do about each. */
interface ImportedSettings {
  changes: number
  left: string[]
}

/** Names the parents of an export that the operator lets the team have. */
export async function importParents(client: Client, folder: string): Promise<ImportedSettings> {
  const { parentTeamSlugs: wanted = [] } = await readSettings(folder)
  const left: string[] = []
  const { slug, parentTeamSlugs: before } = await client.team.get()
  let present = before
  for (const parent of wanted.filter((each) => !present.includes(each)))
    try {
      const changed = await client.team.update({ parentTeamSlugs: [...present, parent] })
      present = changed.parentTeamSlugs
    } catch (error) {
      if (!(error instanceof ApiError) || !refusals.includes(error.code)) throw error
      left.push(
        `Parent ${parent}: ${error.message}. Ask the operator for "admin teams grant-parent ${slug} ${parent}", and import again`,
      )
    }
  return { changes: present.length - before.length, left }
}

const refusals: readonly string[] = ['parent_not_granted', 'parent_cycle', 'invalid_input']

/** Writes the settings of an export; a name and allowed addresses where the team has none of its own. */
export async function importSettings(client: Client, folder: string): Promise<ImportedSettings> {
  const { paramsSchemaValidationEnabled, name, allowedAddresses = [] } = await readSettings(folder)
  const team = await client.team.get()
  const changed = {
    ...(team.paramsSchemaValidationEnabled !== paramsSchemaValidationEnabled && { paramsSchemaValidationEnabled }),
    ...(name !== undefined && team.name === team.slug && { name }),
  }
  if (Object.keys(changed).length > 0) await client.team.update(changed)
  const changes = Object.keys(changed).length
  if (allowedAddresses.length === 0 || team.allowedAddresses.length > 0) return { changes, left: [] }
  try {
    await client.team.update({ allowedAddresses })
    return { changes: changes + 1, left: [] }
  } catch (error) {
    if (!(error instanceof ApiError) || !error.errors.some(({ path }) => path === '/allowedAddresses')) throw error
    const patch = JSON.stringify({ allowedAddresses })
    const text = `Allowed addresses: they ${error.errors[0]!.message}. Until they are set, tokens of the team are good from anywhere: from one of them, pas api PATCH /team -d '${patch}'`
    return { changes, left: [text] }
  }
}

async function readSettings(folder: string): Promise<ExportedSettings> {
  return JSON.parse((await readText(join(folder, teamData.settings)))!) as ExportedSettings
}
