import { ApiError, type Client } from '@automation/client'
import { inParallel } from './in-parallel.ts'
import { writesField, type PlanItem } from './plan.ts'
import type { Items } from './states.ts'

/**
 * The lines of a plan, those with a warning whose source has a syntax fault: it would be saved, and its runs would fail. A
 * token without the scope for checks gets them as they are.
 */
export async function withSourceFaults(
  client: Client,
  local: Items,
  lines: readonly PlanItem[],
): Promise<readonly PlanItem[]> {
  try {
    return await inParallel(8, lines, (line) => checked(client, local, line))
  } catch (error) {
    if (error instanceof ApiError && error.code === 'scope_missing') return lines
    throw error
  }
}

async function checked(client: Client, local: Items, line: PlanItem): Promise<PlanItem> {
  const item = local.get(line.key)
  const isSource = item?.kind === 'process' || item?.kind === 'module'
  if (!isSource || !writesField(line, 'sourceCode')) return line
  const { language: programmingLanguage, sourceCode } = item.state
  const { faults } = await client.sources.check({ programmingLanguage, sourceCode })
  if (faults.length === 0) return line
  const warnings = faults.map(
    ({ message, line: at, column }) =>
      `Syntax error in line ${at}${column === undefined ? '' : `, column ${column}`}: ${message}. Its runs would fail`,
  )
  return { ...line, warnings }
}
