import { setTimeout as delay } from 'node:timers/promises'
import type { DescMethod, DescService } from '@bufbuild/protobuf'
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt'
import { Failure, stopping, unavailable } from '@automation/errors'
import type { Tracer } from '@automation/tracing'
import {
  connectivityState,
  type ChannelInterface,
  type Client as Channel,
  type ChannelOptions,
  type Metadata,
} from '@grpc/grpc-js'
import { partsOf } from './address.ts'
import { channelOptions } from './channel-options.ts'
import { Connection } from './connection.ts'
import type { CallContext } from './context.ts'
import { signer, type SigningKey } from './credentials.ts'
import { metadataOf } from './metadata.ts'
import type { Neighbours } from './in-process.ts'
import { KnownReplicas } from './known-replicas.ts'
import { replicasFor } from './replica-of-team.ts'
import type { Client } from './service-types.ts'
import type { TlsFolder } from './tls-folder.ts'
import { unreachable } from './unreached.ts'
import { traced } from './traced.ts'
import type { Route } from './try-elsewhere.ts'
import { wireClient, type Outgoing } from './wire-client.ts'

export interface WireOptions {
  /**
   * Where a service is (host:port, each name leading to one replica or to all), by its full name or by the area in it:
   * `automation.<area>.v1.…`; that of another cell than the first with `@` and the cell's name behind it.
   */
  addresses: Record<string, string[]>
  /** Where teams are, where there are several cells. */
  cells?: TeamCells
  /** Areas of which each team has a replica: calls that change something of it go there while that can be had. */
  byTeam?: readonly string[]
  key: SigningKey
  /** What services show each other; absent: connections are without TLS. */
  tls?: TlsFolder
  maxMessageBytes: number
  /** A peer that answers nothing for twice as long is taken for gone; 4,000. */
  keepaliveMs?: number
  /** An address that does not answer for so long is asked for anew by its name; 1,000. */
  connectWithinMs?: number
  /** Makes spans of calls. */
  tracer?: Tracer
}

/** In which cell a team is. */
export interface TeamCells {
  /** '' for the first. Failure `unavailable` while nobody knows. */
  of(team: string): string | Promise<string>
  /** Asks anew, and returns when there is an answer. */
  look(): Promise<void>
}

/** About as long as a replica stops. Once more it says so itself. */
const avoidMs = 5000
const lookMs = 20
/** Between two looks whether a team has come to another cell. */
const movedMs = 250
/** A connection to an address that no name leads to is closed when it was not used for so long. */
const forgottenMs = 60_000
/** For so many times as long as one connection may take a stream waits for it. */
const connectTries = 4

/** The replicas of one service, and whose turn it is. */
interface Service {
  known: KnownReplicas
  turn: number
}

/**
 * Neighbours over gRPC. Names are resolved here and not by gRPC, so that each replica has a connection of its own, which
 * is made at the first call and again whenever it breaks. A client takes those that are connected in turn, or for a team
 * the one that all who call for it take.
 */
export class WireNetwork implements Neighbours {
  readonly #options: WireOptions
  readonly #channelOptions: ChannelOptions
  readonly #connectWithinMs: number
  readonly #sign: ReturnType<typeof signer>
  readonly #services = new Map<string[], Service>()
  readonly #connections = new Map<string, Connection>()
  readonly #avoidedUntilMs = new WeakMap<Channel, number>()
  /** Calls that are on their way, and when one of them was answered the last time, or the first of them began. */
  readonly #underWay = new WeakMap<Channel, { calls: number; heardAtMs: number }>()
  #closed = false

  constructor(options: WireOptions) {
    this.#options = options
    this.#connectWithinMs = options.connectWithinMs ?? 1000
    this.#sign = signer(options.key)
    this.#channelOptions = {
      ...channelOptions(options.maxMessageBytes, options.keepaliveMs),
      // A peer that starts after us is found at once.
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 1000,
      // Unlike the default it connects again by itself.
      'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
      // Else channels to the same address share one connection, named or not.
      'grpc.use_local_subchannel_pool': 1,
    }
  }

  client<S extends DescService>(service: S, connection = ''): Client<S> {
    return this.#clientOf(service, connection, this.#cellsOf(service))
  }

  inCells<S extends DescService>(service: S): ReadonlyMap<string, Client<S>> {
    const cells = [...this.#cellsOf(service)]
    return new Map(cells.map(([name, replicas]) => [name, this.#clientOf(service, '', new Map([['', replicas]]))]))
  }

  /** Of one cell: where all calls go. Of several: those of a team go to its own. */
  #clientOf<S extends DescService>(service: S, connection: string, cells: ReadonlyMap<string, Service>): Client<S> {
    const first = cells.get('')!
    const teams = cells.size > 1 ? this.#options.cells : undefined
    const isByTeam = this.#options.byTeam?.includes(areaOf(service)) === true
    const channel = (route?: Route) => {
      const cell = teams === undefined || route === undefined || route.team === '' ? '' : teams.of(route.team)
      return typeof cell === 'string'
        ? this.#next(ofCell(cells, cell), connection, route)
        : cell.then((name) => this.#next(ofCell(cells, name), connection, route))
    }
    const replicasOf = (channel: Channel) =>
      teams && [...cells.values()].find((replicas) => this.#has(replicas, connection, channel))
    return this.#traced(service, {
      channel,
      connected: (context, route) => this.#connected(() => channel(route), context),
      avoid: (channel) => this.#avoid(channel, replicasOf(channel) ?? first),
      began: (channel) => this.#began(channel),
      silentMs: (channel) => this.#silentMs(channel),
      ...((isByTeam || teams) && {
        routeOf: (method, { principal: { team } }) => ({
          team,
          isToOwnReplica: isByTeam && team !== '' && changes(method),
        }),
      }),
      ...(teams && {
        moved: async () => {
          await delay(movedMs)
          // What is known stays.
          await teams.look().catch(() => undefined)
        },
      }),
      metadata: this.#metadata,
    })
  }

  #has({ known }: Service, name: string, channel: Channel): boolean {
    return known.addresses.some((address) => this.#connections.get(`${name}@${address}`)?.channel === channel)
  }

  replicas(service: DescService): readonly string[] {
    return this.#serviceOf(service).known.addresses
  }

  at<S extends DescService>(service: S, address: string, connection = ''): Client<S> {
    const hosts = (this.#namesOf(service) ?? [address]).map((each) => partsOf(each).host)
    const channel = () => this.#connection(address, connection, hosts).channel
    return this.#traced(service, {
      channel,
      connected: (context) => this.#connected(channel, context),
      metadata: this.#metadata,
    })
  }

  #traced<S extends DescService>(service: S, outgoing: Outgoing): Client<S> {
    return traced(service, wireClient(service, outgoing), this.#options.tracer, 'client')
  }

  readonly #metadata = (context: CallContext): Metadata | Promise<Metadata> => {
    const signed = this.#sign(context.principal)
    return typeof signed === 'string'
      ? metadataOf(signed, context)
      : signed.then((authorization) => metadataOf(authorization, context))
  }

  close(): void {
    this.#closed = true
    for (const connection of this.#connections.values()) connection.close()
    this.#connections.clear()
  }

  #namesOf(service: DescService): string[] | undefined {
    const { addresses } = this.#options
    const names = addresses[service.typeName] ?? addresses[areaOf(service)]
    return names?.length === 0 ? undefined : names
  }

  /** By their names; the first, '', is always there. */
  #cellsOf(service: DescService): ReadonlyMap<string, Service> {
    const prefix = `${areaOf(service)}@`
    const others = Object.entries(this.#options.addresses).filter(([name]) => name.startsWith(prefix))
    return new Map([
      ['', this.#serviceOf(service)],
      ...others.map(([name, names]): [string, Service] => [name.slice(prefix.length), this.#serviceAt(names)]),
    ])
  }

  #serviceOf(description: DescService): Service {
    const names = this.#namesOf(description)
    if (names === undefined)
      throw new Failure('unimplemented', 'service_absent', 'This service is not part of the system', {
        cause: description.typeName,
      })
    return this.#serviceAt(names)
  }

  #serviceAt(names: string[]): Service {
    let service = this.#services.get(names)
    if (service === undefined) {
      service = { known: new KnownReplicas(names, (gone) => this.#forget(gone)), turn: 0 }
      this.#services.set(names, service)
    }
    return service
  }

  #next(service: Service, name: string, route?: Route): Channel | Promise<Channel> {
    const { addresses } = service.known
    if (addresses.length === 0) return this.#firstKnown(service, name, route)
    const connections = addresses.map((address) => this.#connection(address, name, service.known.hosts))
    if (connections.some(({ state }) => state === connectivityState.TRANSIENT_FAILURE)) service.known.doubt()
    if (connections.length === 1) return connections[0]!.channel
    const ordered =
      route?.isToOwnReplica === true
        ? this.#ordered(connections, addresses, route.team)
        : inTurn(connections, service.turn++)
    const wanted = ordered.filter(({ channel }) => !this.#isAvoided(channel))
    const asked = wanted.length > 0 ? wanted : ordered
    return decided(asked) ?? this.#firstConnected(asked)
  }

  #ordered(connections: Connection[], addresses: readonly string[], team: string): Connection[] {
    const loads = connections.map(({ channel }) => ({
      calls: this.#underWay.get(channel)?.calls ?? 0,
      silentMs: this.#silentMs(channel),
    }))
    return replicasFor(team, addresses, loads).map((at) => connections[at]!)
  }

  #silentMs(channel: Channel): number {
    return performance.now() - (this.#underWay.get(channel)?.heardAtMs ?? 0)
  }

  #began(channel: Channel): (isAnswered: boolean) => void {
    const load = this.#underWay.get(channel) ?? { calls: 0, heardAtMs: 0 }
    this.#underWay.set(channel, load)
    if (load.calls === 0) load.heardAtMs = performance.now()
    load.calls += 1
    return (isAnswered) => {
      load.calls -= 1
      if (isAnswered) load.heardAtMs = performance.now()
    }
  }

  /** Waits for the first answer of the name servers, as long as for a connection. */
  async #firstKnown(service: Service, name: string, route?: Route): Promise<Channel> {
    for (const untilMs = performance.now() + this.#connectWithinMs; ;) {
      await service.known.ask()
      if (service.known.addresses.length > 0) return this.#next(service, name, route)
      if (this.#closed) throw stopping()
      if (performance.now() > untilMs) throw unreachable(service.known.fault)
      await delay(lookMs * 5)
    }
  }

  /** A channel that is given up while it connects takes along what waits in it. */
  async #connected(next: () => Channel | Promise<Channel>, { signal, deadlineMs }: CallContext): Promise<Channel> {
    const untilMs = Math.min(deadlineMs ?? Infinity, Date.now() + this.#connectWithinMs * connectTries)
    for (;;) {
      const channel = await next()
      const watched = channel.getChannel()
      const state = watched.getConnectivityState(true)
      if (state === connectivityState.READY || state === connectivityState.TRANSIENT_FAILURE) return channel
      if (signal.aborted || Date.now() >= untilMs) return channel
      await changed(watched, state, untilMs, signal)
    }
  }

  /** Else calls would wait for a replica whose name leads nowhere yet while another one is there. */
  async #firstConnected(asked: Connection[]): Promise<Channel> {
    const untilMs = performance.now() + this.#connectWithinMs
    for (;;) {
      await delay(lookMs)
      if (this.#closed) throw stopping()
      const channel = decided(asked)
      if (channel !== undefined) return channel
      const isHopeful = ({ state }: Connection) => state !== connectivityState.TRANSIENT_FAILURE
      if (performance.now() > untilMs) return (asked.find(isHopeful) ?? asked[0]!).channel
    }
  }

  #avoid(channel: Channel, { known }: Service): boolean {
    this.#avoidedUntilMs.set(channel, Date.now() + avoidMs)
    known.doubt()
    return known.addresses.length > 1
  }

  #isAvoided(channel: Channel): boolean {
    return (this.#avoidedUntilMs.get(channel) ?? 0) > Date.now()
  }

  /** `hosts`: what its certificate may name. */
  #connection(address: string, name: string, hosts: readonly string[]): Connection {
    // Nobody would close a connection that a call made now, as one that is made again.
    if (this.#closed) throw stopping()
    const key = `${name}@${address}`
    let connection = this.#connections.get(key)
    if (connection === undefined) {
      this.#sweep()
      connection = new Connection(
        address,
        this.#channelOptions,
        this.#connectWithinMs,
        this.#options.maxMessageBytes,
        this.#options.tls?.channel(address, hosts),
      )
      this.#connections.set(key, connection)
    }
    connection.usedAtMs = Date.now()
    return connection
  }

  /** Replicas that are gone: what is on its way there goes on. */
  #forget(addresses: string[]): void {
    for (const [key, connection] of this.#connections)
      if (addresses.includes(key.slice(key.indexOf('@') + 1))) this.#close(key, connection)
  }

  #sweep(): void {
    const known = [...this.#services.values()].flatMap((service) => service.known.addresses)
    for (const [key, connection] of this.#connections) {
      const isKnown = known.includes(key.slice(key.indexOf('@') + 1))
      if (!isKnown && Date.now() - connection.usedAtMs > forgottenMs) this.#close(key, connection)
    }
  }

  #close(key: string, connection: Connection): void {
    this.#connections.delete(key)
    connection.close()
  }
}

/** What only reads costs every replica the same. */
function changes({ idempotency }: DescMethod): boolean {
  return idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS
}

function ofCell(cells: ReadonlyMap<string, Service>, name: string): Service {
  const service = cells.get(name)
  if (service === undefined)
    throw unavailable(`The cell ${name} is not known here: SERVICE_ADDRESSES must name execution@${name}`)
  return service
}

function areaOf({ typeName }: DescService): string {
  return typeName.split('.')[1] ?? ''
}

function inTurn(connections: Connection[], turn: number): Connection[] {
  return connections.map((_, index) => connections[(turn + index) % connections.length]!)
}

/** One that is connected, or any where none can be; undefined while one may become so. Makes all try that are not. */
function decided(asked: Connection[]): Channel | undefined {
  const states = asked.map(({ state }) => state)
  const ready = states.indexOf(connectivityState.READY)
  if (ready >= 0) return asked[ready]!.channel
  return states.every((state) => state === connectivityState.TRANSIENT_FAILURE) ? asked[0]!.channel : undefined
}

/** Resolves when the state is another one, at this time, or with the signal. */
function changed(channel: ChannelInterface, state: connectivityState, untilMs: number, signal: AbortSignal) {
  return new Promise<void>((resolve) => {
    const done = () => {
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done, { once: true })
    channel.watchConnectivityState(state, untilMs, done)
  })
}
