import { setTimeout as delay } from 'node:timers/promises'
import { Failure, stoppingCode } from '@automation/errors'
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt'
import type { DescMethod } from '@bufbuild/protobuf'
import type { Client as Channel, ClientUnaryCall } from '@grpc/grpc-js'
import { notBelievedCode } from './status.ts'
import { isUnreachable } from './unreached.ts'

/** Which replica of a service is called. */
export interface Replicas {
  /** For the next call; later, where none is connected yet. `team`: whose replica it should be. */
  channel(team?: string): Channel | Promise<Channel>
  /** A call is on its way there; gives what to do once it is over, with whether it was answered. */
  began?(channel: Channel): (isAnswered: boolean) => void
  /** The replica of this connection is not asked for a while where there is another; false where there is none. */
  avoid?(channel: Channel): boolean
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

/**
 * Makes a call, at another replica where one says that it is stopping and has done nothing, does not believe who calls, or
 * could not be reached. A call that may be made twice is also made again where its replica went away meanwhile. The
 * retries of gRPC itself only go to the addresses of one name, and know neither a replica that stops nor one that is to be
 * left alone.
 */
export async function tryElsewhere<T>(
  method: DescMethod,
  replicas: Replicas,
  call: (channel: Channel) => Promise<T>,
  team?: string,
): Promise<T> {
  const mayBeTwice = method.idempotency !== MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN
  for (let tries = 1; ; tries += 1) {
    const next = replicas.channel(tries === 1 ? team : undefined)
    const channel = next instanceof Promise ? await next : next
    const over = replicas.began?.(channel)
    try {
      const answer = await call(channel)
      over?.(true)
      return answer
    } catch (error) {
      over?.(error instanceof Failure && error.kind !== 'unavailable' && error.kind !== 'deadline_exceeded')
      if (!(error instanceof Failure) || tries === mostTries) throw error
      // A replica whose clock is wrong believes nobody.
      const isLeft = error.code === stoppingCode || error.code === notBelievedCode || refused.has(error)
      if (isLeft && replicas.avoid?.(channel) === true) continue
      if (unsent.has(error) || (mayBeTwice && isUnreachable(error))) await delay(pauseMs * tries)
      else throw error
    }
  }
}
