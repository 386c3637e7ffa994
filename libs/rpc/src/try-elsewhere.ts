import { setTimeout as delay } from 'node:timers/promises'
import { Failure, isPassing, stoppingCode, teamMovedCode } from '@automation/errors'
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt'
import type { DescMethod } from '@bufbuild/protobuf'
import type { Client as Channel, ClientUnaryCall } from '@grpc/grpc-js'
import { notBelievedCode } from './status.ts'
import { isUnreachable } from './unreached.ts'

/** For whom a call is. */
export interface Route {
  /** Whose cell it goes to; empty: the first. */
  team: string
  /** It goes to the replica that the team has there. */
  isToOwnReplica: boolean
}

/** Which replica of a service is called. */
export interface Replicas {
  /** For the next call; later, where none is connected yet. */
  channel(route?: Route): Channel | Promise<Channel>
  /** A cell says that the team is not there: returns when it is worth asking anew. Absent where there is one cell. */
  moved?(): Promise<void>
  /** A call is on its way there; gives what to do once it is over, with whether it was answered. */
  began?(channel: Channel): (isAnswered: boolean) => void
  /** The replica of this connection is not asked for a while where there is another; false where there is none. */
  avoid?(channel: Channel): boolean
  /** For how long it has answered none of the calls that are on their way to it. */
  silentMs?(channel: Channel): number
}

const unsent = new WeakSet<Failure>()

/**
 * Notes of a failed call whether its peer had any of it. A call knows the address of its peer as soon as it has got a
 * connection, and until then that of its channel.
 */
export function noteWhetherSent(failure: Failure, call: ClientUnaryCall, channel: Channel): Failure {
  return isUnreachable(failure) && call.getPeer() === channel.getChannel().getTarget() ? noteUnsent(failure) : failure
}

/** Notes of a failed call that its peer had nothing of it. */
export function noteUnsent(failure: Failure): Failure {
  unsent.add(failure)
  return failure
}

const refused = new WeakSet<Failure>()

/** Notes of a failed call that its peer had nothing of it, as it is stopping. */
export function noteRefused(failure: Failure): Failure {
  refused.add(failure)
  return noteUnsent(failure)
}

const mostTries = 3
const pauseMs = 100
/** A team that moves is waited for so long, and no longer than this before the deadline. */
const moveMs = 8000
const moveMarginMs = 500

/** Until when a call is made again for a team that moves. */
export function movedUntil(deadlineMs = Infinity): number {
  return Math.min(Date.now() + moveMs, deadlineMs - moveMarginMs)
}

const isMove = (error: unknown): boolean => error instanceof Failure && error.code === teamMovedCode

/** Whether a call has failed as the team moves, and may be made again now. */
export async function isBehindMove(
  error: unknown,
  { moved }: Pick<Replicas, 'moved'>,
  untilMs: number,
): Promise<boolean> {
  if (!isMove(error) || moved === undefined || Date.now() >= untilMs) return false
  await moved()
  return true
}

/**
 * Makes a call, at another replica where one says that it is stopping and has done nothing, does not believe who calls, or
 * could not be reached; and in another cell where the team has moved. A call that may be made twice is also made again where
 * its replica went away meanwhile, and what only reads where that answers nothing. The retries of gRPC itself only go to the
 * addresses of one name, and know neither a replica that stops nor one that is to be left alone.
 */
export async function tryElsewhere<T>(
  method: DescMethod,
  replicas: Replicas,
  call: (channel: Channel) => Promise<T>,
  { route, deadlineMs }: { route?: Route; deadlineMs?: number } = {},
): Promise<T> {
  const mayBeTwice = method.idempotency !== MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN
  const reads = method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS
  const anyReplica = route && { ...route, isToOwnReplica: false }
  const movedUntilMs = movedUntil(deadlineMs)
  for (let tries = 1; ; tries += 1) {
    const next = replicas.channel(tries === 1 ? route : anyReplica)
    const channel = next instanceof Promise ? await next : next
    const over = replicas.began?.(channel)
    let isSilent = false
    const askOther = () => {
      // It may answer others, and take its time for this.
      isSilent = (replicas.silentMs?.(channel) ?? 0) >= shortestMs && replicas.avoid?.(channel) === true
      return isSilent ? replicas.channel(anyReplica) : undefined
    }
    try {
      const answer = await (reads ? orElsewhere(channel, call, patienceMs(deadlineMs), askOther) : call(channel))
      over?.(!isSilent)
      return answer
    } catch (error) {
      over?.(error instanceof Failure && error.kind !== 'unavailable' && error.kind !== 'deadline_exceeded')
      if (!(error instanceof Failure)) throw error
      if (await isBehindMove(error, replicas, movedUntilMs)) {
        tries = 0
        continue
      }
      if (tries === mostTries) throw error
      // A replica whose clock is wrong believes nobody.
      const isLeft = error.code === stoppingCode || error.code === notBelievedCode || refused.has(error)
      if (isLeft && replicas.avoid?.(channel) === true) continue
      if (unsent.has(error) || (mayBeTwice && isUnreachable(error))) await delay(pauseMs * tries)
      else throw error
    }
  }
}

const shortestMs = 1000
const longestMs = 5000

/** Half of the time that there is: a search that may take long is not made twice early. */
function patienceMs(deadlineMs = Infinity): number {
  return Math.min(Math.max((deadlineMs - Date.now()) / 2, shortestMs), longestMs)
}

/**
 * What only reads is also asked of another replica, where `other` gives one, once it takes long. What comes first counts,
 * but that one of them is away says nothing of the other.
 */
async function orElsewhere<T>(
  channel: Channel,
  call: (channel: Channel) => Promise<T>,
  waitMs: number,
  other: () => Channel | Promise<Channel> | undefined,
): Promise<T> {
  const first = call(channel)
  if (!(await isLate(first, waitMs))) return first
  const askOther = async () => {
    const next = await other()
    return next === undefined || next === channel ? first : call(next)
  }
  const second = askOther()
  return Promise.race([unlessAway(first, second), unlessAway(second, first)])
}

async function unlessAway<T>(one: Promise<T>, other: Promise<T>): Promise<T> {
  try {
    return await one
  } catch (error) {
    if (isPassing(error) && !isMove(error)) return other
    throw error
  }
}

function isLate(work: Promise<unknown>, waitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, waitMs, true)
    const over = () => {
      clearTimeout(timer)
      resolve(false)
    }
    work.then(over, over)
  })
}
