import type { Variable } from '@automation/contract/catalog/v1/variable'
import { presentTime } from '../../rest/time.ts'

/** A team variable as JSON; the catalog has masked the value of a sensitive one. */
export function presentVariable(variable: Variable): Record<string, unknown> {
  return {
    id: variable.id,
    key: variable.key,
    value: variable.valueLeftOut ? undefined : variable.value,
    isSensitive: variable.isSensitive,
    createdBy: variable.createdBy,
    createdAt: presentTime(variable.createdAt),
    updatedBy: variable.updatedBy,
    updatedAt: presentTime(variable.updatedAt),
  }
}
