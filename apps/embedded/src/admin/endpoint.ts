import { rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { fromBinary, toBinary, type DescMethod } from '@bufbuild/protobuf'
import { SealingService as CatalogSealing } from '@automation/contract/catalog/v1/sealing'
import { TeamService } from '@automation/contract/catalog/v1/team'
import { TokenService } from '@automation/contract/catalog/v1/token'
import { SealingService as SandboxSealing } from '@automation/contract/sandbox/v1/sealing'
import { asFailure, Failure } from '@automation/errors'
import type { Neighbours } from '@automation/rpc'
import type { Logger } from '@automation/service'
import { socketPath } from '../socket-path.ts'
import { operatorContext } from './operator.ts'

/** The services that an operator may call through the data folder. */
export const operatorServices = [TeamService, TokenService, CatalogSealing, SandboxSealing] as const

export const socketName = 'admin.sock'

const maxBodyBytes = 1024 * 1024

/**
 * Answers the command line on a socket in the data folder, as who may open that socket owns the system:
 * `POST /<service>/<method>` with the request as binary proto; 200 with the answer, or 400 with the failure as JSON.
 */
export async function serveAdmin(dataDir: string, neighbours: Neighbours, logger: Logger): Promise<Server> {
  const path = socketPath(dataDir, socketName)
  // What a killed process left; the caller holds the data folder, so nobody listens there.
  rmSync(path, { force: true })
  const server = createServer((request, response) => {
    answer(request, neighbours)
      .then((body) => response.end(body))
      .catch((thrown: unknown) => refuse(response, thrown, logger))
  })
  const umask = process.umask(0o177)
  try {
    server.listen(path)
  } finally {
    process.umask(umask)
  }
  const { promise, resolve, reject } = Promise.withResolvers<Server>()
  server.once('listening', () => resolve(server)).once('error', reject)
  return promise
}

async function answer(request: IncomingMessage, neighbours: Neighbours): Promise<Uint8Array> {
  const [, typeName, methodName] = (request.url ?? '').split('/')
  const service = operatorServices.find((known) => known.typeName === typeName)
  const method: DescMethod | undefined = service?.methods.find((known) => known.name === methodName)
  if (service === undefined || method?.methodKind !== 'unary')
    throw new Failure('unimplemented', 'operation_unknown', 'The running system does not know this command')
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes)
    throw new Failure('too_large', 'body_too_large', 'The request is too large')
  const calls = neighbours.client(service) as Record<string, (request: unknown, context: unknown) => Promise<never>>
  const call = calls[method.localName]
  if (call === undefined) throw new Failure('unimplemented', 'operation_unknown', 'No such operation')
  const message = fromBinary(method.input, await buffer(request))
  return toBinary(method.output, await call(message, operatorContext()))
}

function refuse(response: ServerResponse, thrown: unknown, logger: Logger): void {
  const failure = asFailure(thrown)
  if (failure.kind === 'internal') logger.error({ err: failure.cause ?? failure }, 'an admin command failed')
  const { kind, code, message: text, fields } = failure
  response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ kind, code, text, fields }))
}
