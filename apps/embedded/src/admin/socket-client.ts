import { request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { create, fromBinary, toBinary, type DescMethod, type DescService } from '@bufbuild/protobuf'
import { Failure, unavailable, type FailureKind, type FieldFault } from '@automation/errors'
import type { Client } from '@automation/rpc'
import { socketPath } from '../socket-path.ts'
import { socketName } from './endpoint.ts'

/** Calls a system through the socket in its data folder. Failure `unavailable` when nobody listens there. */
export function socketClient<S extends DescService>(dataDir: string, service: S): Client<S> {
  const path = socketPath(dataDir, socketName)
  const calls: Record<string, unknown> = {}
  for (const method of service.methods) {
    if (method.methodKind === 'unary')
      calls[method.localName] = (init: Record<string, unknown>) => call(path, method, init)
  }
  return calls as Client<S>
}

async function call(socket: string, method: DescMethod, init: Record<string, unknown>) {
  const { status, body } = await post(
    socket,
    `/${method.parent.typeName}/${method.name}`,
    toBinary(method.input, create(method.input, init)),
  )
  if (status === 200) return fromBinary(method.output, body)
  const { kind, code, text, fields } = JSON.parse(new TextDecoder().decode(body)) as FailureRecord
  throw new Failure(kind, code, text, { fields })
}

interface FailureRecord {
  kind: FailureKind
  code: string
  text: string
  fields: FieldFault[]
}

function post(socketPath: string, path: string, message: Uint8Array): Promise<{ status: number; body: Uint8Array }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: Uint8Array }>()
  const lost = (error: Error) => reject(unavailable('The running system does not answer on its admin socket', error))
  request({ socketPath, path, method: 'POST', headers: { 'content-length': message.length } })
    .on('response', (response) => {
      buffer(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), lost)
    })
    .on('error', lost)
    .end(message)
  return promise
}
