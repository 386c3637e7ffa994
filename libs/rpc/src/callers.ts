import type { Principal } from './context.ts'

/** What a caller with a key of its own may do with it. */
interface Caller {
  /** What it calls for itself, as the service of its name; as a user, whom it has verified, it calls all but `neverAsUser`. */
  asService: Set<string>
  neverAsUser: Set<string>
}

/** The gateway can be reached by anybody: whoever breaks it speaks for users, and for none of the services behind it. */
const gateway: Caller = {
  asService: new Set([
    'automation.catalog.v1.SessionService',
    'automation.catalog.v1.TeamChangeService',
    'automation.catalog.v1.TeamLimitService',
    'automation.catalog.v1.TeamService',
    'automation.catalog.v1.TokenService',
    'automation.execution.v1.ExecutionService',
    'automation.execution.v1.TeamEventService',
    'automation.sandbox.v1.SandboxRouteService',
    'automation.sandbox.v1.TeamChangeService',
    'automation.schedule.v1.TeamChangeService',
    'automation.storage.v1.StorageService',
  ]),
  // It answers with decrypted variables.
  neverAsUser: new Set(['automation.catalog.v1.ResolveService']),
}

const callers = new Map([['gateway', gateway]])

/** Those that may have keys of their own. */
export const callerNames = [...callers.keys()]

/** Whether a caller, by a key of its own, may call a service (its full name) as `principal`. */
export function mayCall(caller: string, { role, subject }: Principal, service: string): boolean {
  const rights = callers.get(caller)
  if (rights === undefined) return false
  if (role === 'user') return !rights.neverAsUser.has(service)
  return role === 'service' && subject === caller && rights.asService.has(service)
}
