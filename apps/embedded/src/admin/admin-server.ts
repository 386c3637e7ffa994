import { rmSync, openSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { join, relative } from 'node:path'
import { fromBinary, toBinary, type DescMethod } from '@bufbuild/protobuf'
import { operatorContext } from '@automation/admin/operator-context'
import { SealingService as CatalogSealing } from '@automation/contract/catalog/v1/sealing'
import { SessionService } from '@automation/contract/catalog/v1/session'
import { RunnerOperatorService } from '@automation/contract/execution/v1/runner_operator'
import { TeamPoolService } from '@automation/contract/execution/v1/team_pool'
import { StatisticsService } from '@automation/contract/execution/v1/statistics'
import { DatastoreService } from '@automation/contract/storage/v1/datastore'
import { StorageService } from '@automation/contract/storage/v1/storage'
import { TeamService } from '@automation/contract/catalog/v1/team'
import { TeamLimitService } from '@automation/contract/catalog/v1/team_limit'
import { TokenService } from '@automation/contract/catalog/v1/token'
import { SealingService as SandboxSealing } from '@automation/contract/sandbox/v1/sealing'
import { TeamRemovalService as CatalogRemoval } from '@automation/contract/catalog/v1/team_removal'
import { TeamRemovalService as ScheduleRemoval } from '@automation/contract/schedule/v1/team_removal'
import { TeamRemovalService as StorageRemoval } from '@automation/contract/storage/v1/team_removal'
import { TeamRemovalService as ExecutionRemoval } from '@automation/contract/execution/v1/team_removal'
import { TeamRemovalService as SandboxRemoval } from '@automation/contract/sandbox/v1/team_removal'
import { asFailure, Failure } from '@automation/errors'
import type { Neighbours } from '@automation/rpc'
import type { Logger } from '@automation/service'

/** The services that an operator may call through the data folder. */
const operatorServices = [
  TeamService,
  TeamLimitService,
  TokenService,
  SessionService,
  CatalogSealing,
  SandboxSealing,
  CatalogRemoval,
  ExecutionRemoval,
  ScheduleRemoval,
  StorageRemoval,
  StatisticsService,
  StorageService,
  DatastoreService,
  RunnerOperatorService,
  TeamPoolService,
  SandboxRemoval,
] as const

export const socketName = 'admin.sock'

const maxBodyBytes = 1024 * 1024

/**
 * Answers the command line on a socket in the data folder, as who may open that socket owns the system:
 * `POST /<service>/<method>` with the request as binary proto, on behalf of
 * the team in the header `team`, if any; 200 with the answer, or 400 with the failure as JSON.
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
  return toBinary(method.output, await call(message, operatorContext(String(request.headers['team'] ?? ''))))
}

function refuse(response: ServerResponse, thrown: unknown, logger: Logger): void {
  const failure = asFailure(thrown)
  if (failure.kind === 'internal') logger.error({ err: failure.cause ?? failure }, 'an admin command failed')
  const { kind, code, message: text, fields } = failure
  response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ kind, code, text, fields }))
}

// The shortest limit of the systems that we run on, with its closing NUL.
const longest = 103

/**
 * A path by which the socket `name` in `folder` can be bound or connected to, as such paths may only be some 100 bytes
 * long: the plain one where it fits, else one through a descriptor of the folder that stays open (Linux), or a relative one.
 */
export function socketPath(folder: string, name: string): string {
  const plain = join(folder, name)
  if (Buffer.byteLength(plain) <= longest) return plain
  if (process.platform === 'linux') return `/proc/self/fd/${openSync(folder, 'r')}/${name}`
  return relative(process.cwd(), plain)
}
