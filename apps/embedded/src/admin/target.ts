import { setTimeout as pause } from 'node:timers/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { Failure, unavailable, type FailureKind, type FieldFault } from '@automation/errors'
import type { OpenServices, Shown, Target } from '@automation/admin/target'
import { readOperatorAddresses, type OperatorAddresses } from '@automation/admin/operator-addresses'
import type { CallContext, Client } from '@automation/rpc'
import { Environment } from '@automation/service/environment'
import { create, fromBinary, toBinary, type DescMethod, type DescService } from '@bufbuild/protobuf'
import { dataDirHolder, type Holder } from '../data-dir.ts'
import { gives, type EnvironmentValues } from '../environment.ts'
import { readSecret } from '../secret-file.ts'
import { readSystemSettings } from '../settings.ts'
import { socketPath, socketName } from './admin-server.ts'

const startTimeMs = 60_000

/**
 * The system that the environment names: the services of SERVICE_ADDRESSES, the process-catalog at least; else the one that
 * runs on DATA_DIR; else, when none does, its database, opened for the moment.
 */
export async function openTarget(values: EnvironmentValues): Promise<Target> {
  const env = new Environment(values)
  const { catalog, ...others } = readOperatorAddresses(env)
  const settings = readSystemSettings(env)
  env.check()
  const { publicUrl, consoleUrl, bootstrapTeam } = settings
  const shown: Shown = { restUrl: publicUrl, consoleUrl, firstTeam: bootstrapTeam }
  if (catalog !== undefined && gives(values, 'INTERNAL_KEY'))
    return { ...(await overTheWire({ catalog, ...others }, values, settings.dataDir)), shown }
  const holder = await startedHolder(settings.dataDir)
  if (holder !== undefined) {
    // The running system knows better than the environment of this command.
    const ofHolder = { ...shown, restUrl: holder.address, consoleUrl: holder.consoleUrl }
    if (holder.kind === 'embedded') return { ...overTheSocket(settings.dataDir), shown: ofHolder }
    const addresses = { ...others, ...(holder.addresses ?? { catalog: '' }) }
    return { ...(await overTheWire(addresses, values, settings.dataDir)), shown: ofHolder }
  }
  const { openDatabaseTarget } = await import('./database-target.ts')
  try {
    return { ...(await openDatabaseTarget(values, settings)), shown }
  } catch (error) {
    // A system took the folder since it was looked at: that one is talked to now.
    if (error instanceof Failure && error.code === 'data_dir_held') return openTarget(values)
    throw error
  }
}

/** Who serves on the data folder, once it is up; nobody where only another admin command has it. */
async function startedHolder(dataDir: string): Promise<Holder | undefined> {
  for (const until = Date.now() + startTimeMs; ;) {
    const holder = dataDirHolder(dataDir)
    if (holder === undefined || holder.kind === 'admin') return undefined
    if (holder.address !== '') return holder
    if (Date.now() > until)
      throw new Failure(
        'unavailable',
        'system_not_ready',
        `The system on ${dataDir} (process ${holder.pid}) is not ready yet. Try again when it is.`,
      )
    await pause(100)
  }
}

function overTheSocket(dataDir: string): OpenServices {
  return {
    client: (service) => socketClient(dataDir, service),
    inCells: (service) => new Map([['', socketClient(dataDir, service)]]),
    close: () => Promise.resolve(),
  }
}

async function overTheWire(
  addresses: OperatorAddresses,
  values: EnvironmentValues,
  dataDir: string,
): Promise<OpenServices> {
  const { openWireTarget } = await import('@automation/admin/wire-target')
  return openWireTarget(
    addresses,
    values,
    gives(values, 'INTERNAL_KEY') ? undefined : readSecret(join(dataDir, 'internal-key')),
  )
}

/** Calls a system through the socket in its data folder. Failure `unavailable` when nobody listens there. */
function socketClient<S extends DescService>(dataDir: string, service: S): Client<S> {
  const path = socketPath(dataDir, socketName)
  const calls: Record<string, unknown> = {}
  for (const method of service.methods) {
    if (method.methodKind === 'unary')
      calls[method.localName] = (init: Record<string, unknown>, context: CallContext) =>
        call(path, method, init, context.principal.team)
  }
  return calls as Client<S>
}

async function call(socket: string, method: DescMethod, init: Record<string, unknown>, team: string) {
  const { status, body } = await post(
    socket,
    `/${method.parent.typeName}/${method.name}`,
    toBinary(method.input, create(method.input, init)),
    team,
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

function post(
  socketPath: string,
  path: string,
  message: Uint8Array,
  team: string,
): Promise<{ status: number; body: Uint8Array }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: Uint8Array }>()
  const lost = (error: Error) => reject(unavailable('The running system does not answer on its admin socket', error))
  request({ socketPath, path, method: 'POST', headers: { 'content-length': message.length, team } })
    .on('response', (response) => {
      buffer(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), lost)
    })
    .on('error', lost)
    .end(message)
  return promise
}
