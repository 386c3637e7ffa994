import type { Environment } from '@automation/service/environment'
import { readGivenAddresses, type CalledService } from '@automation/service/service-addresses'

/** Where the services are that an operator calls, each as host:port; those of other cells as `execution@blue`. */
export type OperatorAddresses = Partial<Record<CalledService | `execution@${string}`, string>> & { catalog: string }

/** Those of SERVICE_ADDRESSES; faults are noted in the environment. */
export function readOperatorAddresses(env: Environment): Partial<OperatorAddresses> {
  const given = Object.entries(readGivenAddresses(env)).map(([name, all = []]) => [name, all[0]] as const)
  return Object.fromEntries(given)
}
