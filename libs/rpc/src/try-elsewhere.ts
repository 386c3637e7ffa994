import { setTimeout as delay } from 'node:timers/promises'
import { Failure, stoppingCode } from '@automation/errors'
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt'
import type { DescMethod } from '@bufbuild/protobuf'
import type { Client as Channel } from '@grpc/grpc-js'
import { isUnreachable, isUnsent } from './reachability.ts'

/** Which replica of a service is called. */
export interface Replicas {
  /** For the next call; later, where none is connected yet. */
  channel(): Channel | Promise<Channel>
  /** The replica of this connection is not asked for a while where there is another; false where there is none. */
  avoid?(channel: Channel): boolean
}

const mostTries = 3
const pauseMs = 100

/**
 * Makes a call, at another replica where one says that it is stopping and has done nothing, or could not be reached. A
 * call that may be made twice is also made again where its replica went away meanwhile.
 */
export async function tryElsewhere<T>(
  method: DescMethod,
  replicas: Replicas,
  call: (channel: Channel) => Promise<T>,
): Promise<T> {
  const mayBeTwice = method.idempotency !== MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN
  for (let tries = 1; ; tries += 1) {
    const next = replicas.channel()
    const channel = next instanceof Promise ? await next : next
    try {
      return await call(channel)
    } catch (error) {
      if (!(error instanceof Failure) || tries === mostTries) throw error
      if (error.code === stoppingCode) {
        if (replicas.avoid?.(channel) !== true) throw error
      } else if (isUnsent(error) || (mayBeTwice && isUnreachable(error))) await delay(pauseMs * tries)
      else throw error
    }
  }
}
