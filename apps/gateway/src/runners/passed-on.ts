import { RunService } from '@automation/contract/run/v1/run'
import { RunnerService } from '@automation/contract/runner/v1/runner'
import { DatastoreService } from '@automation/contract/storage/v1/datastore'
import { PackageSetService } from '@automation/contract/storage/v1/package_set'
import { StorageService } from '@automation/contract/storage/v1/storage'
import { asFailure, Failure } from '@automation/errors'
import {
  notPassedOn,
  served,
  type CallContext,
  type Handlers,
  type Neighbours,
  type ServedService,
} from '@automation/rpc'
import { Tally } from '@automation/service'
import type { DescService } from '@bufbuild/protobuf'

/** What a runner of another network may call, and its runs by it; all else is refused. */
const allowed: readonly [DescService, readonly string[]][] = [
  [RunnerService, ['work', 'renewSession']],
  [RunService, ['startProcess', 'runProcess']],
  [StorageService, ['uploadObject', 'getObject', 'readObject', 'listObjects', 'deleteObject', 'signUrl']],
  [DatastoreService, ['getValue', 'setValue', 'deleteValue', 'listKeys']],
  [PackageSetService, ['downloadSet']],
]

/** Of one token: twice as many as runners that it is good for, as a stream that broke may not be known to be gone. */
const mostWorkStreams = 200

type Call = (request: unknown, context: CallContext) => unknown

/** The services for such runners: each call goes on to whom it is for. */
export function passedOn(neighbours: Neighbours): ServedService[] {
  return allowed.map(([service, methods]) => {
    const client = neighbours.client(service, 'runners') as Record<string, Call>
    const calls = service.methods.map(({ localName, methodKind }): [string, Call] => {
      const call = client[localName]!
      if (!methods.includes(localName)) return [localName, refuse]
      const isStream = methodKind === 'bidi_streaming' || methodKind === 'server_streaming'
      const passed = isStream ? streamed(call) : answered(call)
      return [localName, localName === 'work' ? bounded(passed) : passed]
    })
    return served(service, Object.fromEntries(calls) as Handlers<DescService>)
  })
}

function answered(call: Call): Call {
  return async (request, context) => {
    try {
      return await call(request, context)
    } catch (thrown) {
      throw notPassedOn(asFailure(thrown))
    }
  }
}

function streamed(call: Call): Call {
  return async function* (request, context) {
    try {
      yield* call(request, context) as AsyncIterable<unknown>
    } catch (thrown) {
      throw notPassedOn(asFailure(thrown))
    }
  }
}

/** So many streams of a token at a time, each open as long as its runner likes. */
function bounded(streams: Call): Call {
  const open = new Tally()
  return async function* (request, context) {
    const { token = '' } = context.principal
    if (open.of(token) >= mostWorkStreams) throw tooManyStreams()
    open.add(token, 1)
    try {
      yield* streams(request, context) as AsyncIterable<unknown>
    } finally {
      open.add(token, -1)
    }
  }
}

function tooManyStreams(): Failure {
  const text = `Runners have ${mostWorkStreams} streams with this pool token here, the most that may`
  return new Failure('resource_exhausted', 'too_many_streams', text)
}

function refuse(): never {
  throw new Failure('permission_denied', 'permission_denied', 'A runner of another network may not call this')
}
