import { isTeamSlug } from '@automation/contract/forms'
import { Failure, notFound } from '@automation/errors'

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
  /** For the role `run`: the run's token, which execution signed and verifies. For a runner of another network: its pool's. */
  token?: string
  /** Of a runner with the key of one pod: that pod. What a caller says of it is not read. */
  pod?: RunnerPodId
}

/** A runner pod as its key names it. */
export interface RunnerPodId {
  /** UUIDv7, made with the pod. */
  id: string
  pool: string
}

/** As whom a part of the system calls others: for itself, or for a team. */
export function asService(name: string, team = ''): Principal {
  return { role: 'service', team, subject: name, name }
}

/** As whom a runner of another network calls. */
export function asRunnerWith(poolToken: string): Principal {
  return { role: 'runner', team: '', subject: 'runner', name: 'runner', token: poolToken }
}

/** As whom a run calls. */
export function asRunWith(token: string): Principal {
  return { role: 'run', team: '', subject: 'run', name: 'run', token }
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

/** Who asks for something of a team. */
export interface Member {
  team: string
  /** What `createdBy` keeps. */
  name: string
  /** Value of Svc-Initiated-By. */
  initiatedBy?: string
  /** Address of the caller. */
  ip?: string
}

/** The principal of a call that only these roles may make. Failure permission_denied. */
export function principalIn({ principal }: CallContext, ...roles: Role[]): Principal {
  if (!roles.includes(principal.role)) throw denied()
  return principal
}

/** For which team, and as whom, a call is made. Failure permission_denied for calls of no team. */
export function memberIn(context: CallContext): Member {
  const { team, name, initiatedBy, ip } = principalIn(context, 'user', 'service', 'operator')
  if (team === '') throw denied()
  return { team, name, initiatedBy, ip }
}

/**
 * The operator, acting for the team that a request names. Failures: permission_denied for other callers, team_not_found
 * for what can be no team's slug.
 */
export function operatorFor(team: string, context: CallContext): Principal {
  const operator = principalIn(context, 'operator')
  if (!isTeamSlug(team)) throw notFound('team')
  return { ...operator, team }
}

function denied(): Failure {
  return new Failure('permission_denied', 'permission_denied', 'This call is not allowed')
}

/** How long a unary call may take that says nothing else. */
export const defaultTimeoutMs = 10_000

const tickMs = 50

/**
 * Ends calls at their deadlines, up to 50 ms late, with one timer for all of them: a timer for each would cost more
 * than the call itself.
 */
class DeadlineWatch {
  readonly #byTick = new Map<number, Set<TimedCall>>()
  #timer: NodeJS.Timeout | undefined

  add(call: TimedCall): void {
    const tick = tickOf(call)
    const others = this.#byTick.get(tick)
    if (others !== undefined) others.add(call)
    else this.#byTick.set(tick, new Set([call]))
    this.#timer ??= setInterval(() => this.#sweep(), tickMs).unref()
  }

  delete(call: TimedCall): void {
    this.#byTick.get(tickOf(call))?.delete(call)
  }

  #sweep(): void {
    const now = Date.now() / tickMs
    for (const [tick, calls] of this.#byTick) {
      if (tick > now) continue
      this.#byTick.delete(tick)
      for (const call of calls) call.expire()
    }
    if (this.#byTick.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

function tickOf(call: TimedCall): number {
  return Math.ceil(call.deadlineMs / tickMs)
}

const watch = new DeadlineWatch()

/**
 * One unary call in process, and the context that its handler gets: with a deadline, and with a signal that is only made
 * when the handler looks at it. `within` gives the handler's result, or throws when the deadline comes first.
 *
 * A class and no object literal: a getter in a literal makes a hidden class for each object, which keeps the object alive
 * until the next full collection.
 */
export class TimedCall implements CallContext {
  readonly principal: Principal
  readonly requestId: string
  readonly traceparent: string | undefined
  readonly deadlineMs: number
  readonly #caller: CallContext
  #controller: AbortController | undefined
  #callerLeft: (() => void) | undefined
  #reject: ((reason: unknown) => void) | undefined

  constructor(caller: CallContext) {
    const now = Date.now()
    this.deadlineMs = caller.deadlineMs ?? now + defaultTimeoutMs
    if (now >= this.deadlineMs) throw expired()
    this.principal = caller.principal
    this.requestId = caller.requestId
    this.traceparent = caller.traceparent
    this.#caller = caller
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const own = (this.#controller = new AbortController())
      const { signal } = this.#caller
      this.#callerLeft = () => own.abort(signal.reason)
      if (Date.now() >= this.deadlineMs) own.abort(expired())
      else if (signal.aborted) this.#callerLeft()
      else signal.addEventListener('abort', this.#callerLeft, { once: true })
    }
    return this.#controller.signal
  }

  within<T>(result: PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject
      watch.add(this)
      result.then(
        (value) => {
          this.#over()
          resolve(value)
        },
        (error: unknown) => {
          this.#over()
          reject(error as Error)
        },
      )
    })
  }

  #over(): void {
    watch.delete(this)
    if (this.#callerLeft !== undefined) this.#caller.signal.removeEventListener('abort', this.#callerLeft)
  }

  expire(): void {
    const failure = expired()
    this.#reject?.(failure)
    this.#controller?.abort(failure)
  }
}

/** The deadline of a call is over. */
export function expired(cause?: unknown): Failure {
  return new Failure('deadline_exceeded', 'deadline_exceeded', 'The operation took too long', { cause })
}

/** The caller went away before the answer; nobody sees this but the caller's own code. */
export function cancelled(cause?: unknown): Failure {
  return new Failure('unavailable', 'call_cancelled', 'The call was cancelled', { cause })
}

/** Why a signal was aborted: its time was over, or the caller went. */
export function endOf(signal: AbortSignal): Failure {
  const reason: unknown = signal.reason
  if (reason instanceof Failure) return reason
  return (reason as { name?: unknown } | undefined)?.name === 'TimeoutError' ? expired(reason) : cancelled(reason)
}
