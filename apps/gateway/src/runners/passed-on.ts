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
import type { DescService } from '@bufbuild/protobuf'

/** What a runner of another network may call, and its runs by it; all else is refused. */
const allowed: readonly [DescService, readonly string[]][] = [
  [RunnerService, ['work', 'renewSession']],
  [RunService, ['startProcess', 'runProcess']],
  [StorageService, ['uploadObject', 'getObject', 'readObject', 'listObjects', 'deleteObject', 'signUrl']],
  [DatastoreService, ['getValue', 'setValue', 'deleteValue', 'listKeys']],
  [PackageSetService, ['downloadSet']],
]

type Call = (request: unknown, context: CallContext) => unknown

/** The services for such runners: each call goes on to whom it is for. */
export function passedOn(neighbours: Neighbours): ServedService[] {
  return allowed.map(([service, methods]) => {
    const client = neighbours.client(service, 'runners') as Record<string, Call>
    const calls = service.methods.map(({ localName, methodKind }): [string, Call] => {
      const call = client[localName]!
      if (!methods.includes(localName)) return [localName, refuse]
      const isStream = methodKind === 'bidi_streaming' || methodKind === 'server_streaming'
      return [localName, isStream ? streamed(call) : answered(call)]
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

function refuse(): never {
  throw new Failure('permission_denied', 'permission_denied', 'A runner of another network may not call this')
}
