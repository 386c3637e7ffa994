import type { Principal, RunnerPodId } from './context.ts'

/** Who has a key of its own. */
export interface Caller {
  /** Whom a call is of that this key signs. */
  speaksAs(claimed: Principal): Principal
  /** Whether it may call a method of a service (its full name) as that principal. */
  mayCall(principal: Principal, service: string, method: string): boolean
  /** What a key that may call it has, to be shown to who holds this one. */
  needs?: (service: string, method: string) => string
}

/** The gateway calls these for itself; as a user, whom it has verified, it calls all but `neverAsUser`. */
const ofGateway = new Set([
  'automation.catalog.v1.SessionService',
  'automation.catalog.v1.TeamChangeService',
  'automation.catalog.v1.TeamLimitService',
  'automation.catalog.v1.TeamService',
  'automation.catalog.v1.TokenService',
  'automation.execution.v1.ExecutionService',
  'automation.execution.v1.PoolTokenService',
  'automation.execution.v1.TeamEventService',
  'automation.sandbox.v1.SandboxRouteService',
  'automation.sandbox.v1.TeamChangeService',
  'automation.schedule.v1.TeamChangeService',
  'automation.storage.v1.StorageService',
])
// It answers with decrypted variables.
const neverAsUser = new Set(['automation.catalog.v1.ResolveService'])

/** The gateway can be reached by anybody: whoever breaks it speaks for users, and for none of the services behind it. */
const gateway: Caller = {
  speaksAs: (claimed) => claimed,
  mayCall: ({ role, subject }, service) =>
    role === 'user' ? !neverAsUser.has(service) : role === 'service' && subject === 'gateway' && ofGateway.has(service),
}

/** The runner of a pod calls as what its key names, whatever it says, and as a runner alone. */
export function runnerOf(pod: RunnerPodId): Caller {
  return {
    speaksAs: ({ role, subject, name }) => ({ role, team: '', subject, name, pod }),
    mayCall: ({ role }) => role === 'runner',
  }
}

/** What an operator's key may be good for: `read` is part of each. */
export const operatorScopes = ['read', 'teams', 'tokens', 'keys', 'removal'] as const
type OperatorScope = (typeof operatorScopes)[number]

const ofTeams = new Set([
  'automation.catalog.v1.TeamService',
  'automation.catalog.v1.TeamLimitService',
  'automation.execution.v1.RunnerOperatorService',
  'automation.execution.v1.TeamPoolService',
])
/** They let more people reach a team. */
const opening = new Set(['GrantParent', 'ClearAllowedAddresses', 'CreatePoolToken'])
const figures = new Set(['automation.execution.v1.StatisticsService', 'grpc.reflection'])

/** What a call needs. */
function scopeOf(service: string, method: string): OperatorScope {
  const isLook = /^(Get|List)/.test(method)
  if (method === 'RotateSigningKey' || service.endsWith('.SealingService')) return 'keys'
  if (service.endsWith('.TeamRemovalService')) return method === 'StopTeam' ? 'teams' : 'removal'
  if (opening.has(method)) return 'tokens'
  if (ofTeams.has(service)) return isLook ? 'read' : 'teams'
  if (figures.has(service)) return 'read'
  if (service === 'automation.catalog.v1.TokenService' && isLook) return 'read'
  if (service === 'automation.storage.v1.StorageService' && method === 'GetLimits') return 'read'
  // All else is what a team has, which whoever makes tokens reaches.
  return 'tokens'
}

/** A person who runs the system: records show the key's name, whatever its holder says. */
function operator(name: string, scopes: readonly OperatorScope[]): Caller {
  return {
    speaksAs: ({ role, team }) => ({ role, team, subject: name, name }),
    mayCall: ({ role }, service, method) => {
      const scope = scopeOf(service, method)
      return role === 'operator' && (scope === 'read' || scopes.includes(scope))
    },
    needs: (service, method) => `${name} needs the scope ${scopeOf(service, method)}`,
  }
}

const operatorForm = /^(operator\/[a-z0-9][a-z0-9._-]{0,62})(?:\/([a-z+]+))?$/

/**
 * The caller of a name: `gateway`, `operator/NAME`, or `operator/NAME/SCOPE+SCOPE` for one who may not do all. Undefined for
 * others.
 */
export function callerOf(text: string): Caller | undefined {
  if (text === 'gateway') return gateway
  const [, name, words] = operatorForm.exec(text) ?? []
  if (name === undefined) return undefined
  const scopes = words?.split('+') ?? operatorScopes
  const known = operatorScopes.filter((scope) => scopes.includes(scope))
  return known.length === scopes.length ? operator(name, known) : undefined
}
