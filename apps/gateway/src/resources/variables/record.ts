import type { Variable } from '@automation/contract/catalog/v1/variable'
import { z } from '@hono/zod-openapi'
import { uuid } from '../../rest/fields.ts'
import { changed, leavesOut, made, presentWriters } from '../../rest/shared-fields.ts'
import { samples } from '../../rest/samples.ts'

const shape = {
  id: uuid(),
  key: z.string(),
  value: z.string().openapi({ description: '****** when sensitive' }),
  isSensitive: z.boolean(),
  ...made,
  ...changed,
}

export const variableRecord = z.object(shape).openapi('TeamVariable', {
  example: { id: samples.id, key: 'SHOP_URL', value: 'https://shop.example', isSensitive: false, ...samples.made },
})

/** One of a list. */
export const listedVariableRecord = z.object(shape).partial({ value: true }).openapi('ListedTeamVariable', leavesOut)

/** A team variable as JSON; the catalog has masked the value of a sensitive one. */
export function presentVariable(variable: Variable): z.input<typeof variableRecord> {
  const { id, key, value, isSensitive } = variable
  return { id, key, value, isSensitive, ...presentWriters(variable) }
}

/** The same for a list, where a value that is too large is left out. */
export function presentListedVariable(variable: Variable): z.input<typeof listedVariableRecord> {
  return { ...presentVariable(variable), ...(variable.valueLeftOut && { value: undefined }) }
}
