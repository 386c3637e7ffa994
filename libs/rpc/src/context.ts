/** What a caller is: the operator's command line, a team's user, another service, a runner, or a run itself. */
export type Role = 'operator' | 'user' | 'service' | 'runner' | 'run'

/** Who asks, verified. Travels with every internal call. */
export interface Principal {
  role: Role
  /** The one team that the call may touch; empty for operators, services and runners that act for no team. */
  team: string
  /** Client id of the API token, subject of an external token, or the name of the service. */
  subject: string
  /** What `createdBy` shows: the API token's name, else its client id. */
  name: string
  scope?: string
  /** Value of Svc-Initiated-By. */
  initiatedBy?: string
  /** Address of the caller, for audit and for limits on attempts. */
  ip?: string
  /** For the role `run`: the run's token, which execution signed and verifies. */
  token?: string
}

/** As whom a part of the system calls others: for itself, or for a team. */
export function asService(name: string, team = ''): Principal {
  return { role: 'service', team, subject: name, name }
}

/** What every call carries beside its message, in process and over the wire alike. */
export interface CallContext {
  principal: Principal
  requestId: string
  /** W3C trace context, passed on unchanged. */
  traceparent?: string
  /** Unix time in ms after which nobody waits for the answer; a call without one is refused by no deadline. */
  deadlineMs?: number
  /** Aborted when the caller has gone or the deadline is over. */
  signal: AbortSignal
}

/** The context of a call that a part makes of its own accord: no caller, no deadline but `timeoutMs`. */
export function ownContext(principal: Principal, timeoutMs: number): CallContext {
  return {
    principal,
    requestId: crypto.randomUUID(),
    deadlineMs: Date.now() + timeoutMs,
    signal: AbortSignal.timeout(timeoutMs),
  }
}
