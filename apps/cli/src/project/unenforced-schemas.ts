import type { Client } from '@automation/client'
import { writesField, type Plan } from './plan.ts'
import type { Items } from './states.ts'

/** How to have schemas enforced, where a plan writes one to a team that enforces none; undefined elsewhere. */
export async function adviceOnSchemas(client: Client, local: Items, { items }: Plan): Promise<string | undefined> {
  const isWritten = items.some((line) => {
    const item = local.get(line.key)
    const hasSchema = item?.kind === 'process' && item.state.parametersSchema !== null
    return hasSchema && writesField(line, 'parametersSchema')
  })
  if (!isWritten || (await client.team.get()).paramsSchemaValidationEnabled) return undefined
  return `The team checks no parameters against schemas until it is told to: pas api PATCH /team -d '{"paramsSchemaValidationEnabled": true}'`
}
