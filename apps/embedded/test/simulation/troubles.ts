import type { DatabaseLink, Delivery, LinkConditions } from './database-link.ts'
import type { SimulatedSystem } from './simulated-system.ts'
import type { NetworkConditions } from './call-network.ts'
import type { Host, World } from './world.ts'

/** The conditions between machines and to the database, which get worse for a while. */
export class Conditions implements LinkConditions, NetworkConditions {
  readonly #world: World
  isAway = false
  refusesWrites = false
  databaseAheadMs = 0
  /** Shares of messages that are lost. */
  lostStatements = 0
  lostMessages = 0
  /** The longest time that a message takes, in ms. */
  slowestMs = 3

  constructor(world: World) {
    this.#world = world
  }

  latencyMs(): number {
    const { chance } = this.#world
    return chance.happens(0.05) ? chance.next() * this.slowestMs * 10 : chance.next() * this.slowestMs
  }

  deliveryOf(_host: Host): Delivery {
    const { chance } = this.#world
    if (!chance.happens(this.lostStatements)) return 'arrives'
    return chance.happens(0.5) ? 'is lost' : 'loses its answer'
  }

  commitsLate(): boolean {
    return this.#world.chance.happens(0.15)
  }

  losesRequest(): boolean {
    return this.#world.chance.happens(this.lostMessages)
  }

  losesAnswer(): boolean {
    return this.#world.chance.happens(this.lostMessages)
  }
}

/** What goes wrong in a world, from now on for so long; all is well again in the end. */
export class Troubles {
  readonly #world: World
  readonly #system: SimulatedSystem
  readonly #link: DatabaseLink
  readonly #conditions: Conditions

  constructor(world: World, system: SimulatedSystem, link: DatabaseLink, conditions: Conditions) {
    this.#world = world
    this.#system = system
    this.#link = link
    this.#conditions = conditions
  }

  begin(forMs: number): void {
    const { chance } = this.#world
    for (let count = chance.between(1, 6); count > 0; count -= 1)
      this.#world.after(chance.next() * forMs, () => this.#one(), undefined)
  }

  #one(): unknown {
    const { chance } = this.#world
    const kinds: (() => unknown)[] = [
      () => this.#crash('execution'),
      () => this.#crash('scheduler'),
      () => this.#crash('runner'),
      () => this.#freeze(),
      () => this.#databaseAway(),
      () =>
        this.#for(
          'writes are refused',
          () => (this.#conditions.refusesWrites = true),
          () => (this.#conditions.refusesWrites = false),
        ),
      () =>
        this.#for(
          'statements are lost',
          () => (this.#conditions.lostStatements = 0.15),
          () => (this.#conditions.lostStatements = 0),
        ),
      () =>
        this.#for(
          'messages are lost',
          () => (this.#conditions.lostMessages = 0.2),
          () => (this.#conditions.lostMessages = 0),
        ),
      () =>
        this.#for(
          'all is slow',
          () => (this.#conditions.slowestMs = 150),
          () => (this.#conditions.slowestMs = 3),
        ),
      () => this.#stepClock(),
      () => this.#promote(),
      () => this.#addReplica(),
    ]
    return chance.pick(kinds)()
  }

  async #crash(role: 'execution' | 'scheduler' | 'runner'): Promise<void> {
    const machines = this.#system.machinesOf(role)
    if (machines.length === 0) return
    const host = this.#world.chance.pick(machines)
    await this.#system.crash(host)
    this.#world.after(this.#world.chance.between(100, 4000), () => void this.#system.start(host.name), undefined)
  }

  #freeze(): void {
    const { chance } = this.#world
    const machines = (['execution', 'scheduler', 'runner'] as const).flatMap((role) => this.#system.machinesOf(role))
    if (machines.length === 0) return
    const host = chance.pick(machines)
    const forMs = chance.between(200, 9000)
    this.#world.tell(`stands still for ${forMs} ms`, host)
    host.frozenUntilMs = this.#world.nowMs + forMs
  }

  async #databaseAway(): Promise<void> {
    const begin = () => (this.#conditions.isAway = true)
    this.#for('the database is away', begin, () => (this.#conditions.isAway = false))
    for (const client of [...this.#link.clients]) await this.#link.cutOne(client)
  }

  /** The clock of one machine is wrong until that ends or is set again. */
  #stepClock(): void {
    const { chance } = this.#world
    const machines = (['execution', 'scheduler', 'runner'] as const).flatMap((role) => this.#system.machinesOf(role))
    if (machines.length === 0) return
    const host = chance.pick(machines)
    const byMs = chance.pick([-3_600_000, -4000, 700, 4000, 3_600_000])
    const step = () => (host.clockAheadMs = byMs)
    this.#for(`the clock of ${host.name} is ${byMs} ms ahead`, step, () => (host.clockAheadMs = 0))
  }

  /** A standby that has all that was committed takes the place of the server; its clock is another. */
  async #promote(): Promise<void> {
    await this.#databaseAway()
    this.#conditions.databaseAheadMs = this.#world.chance.between(-1500, 1500)
    this.#world.tell(`a standby is promoted, whose clock is ${this.#conditions.databaseAheadMs} ms ahead`, undefined)
  }

  /** One more, for a while. */
  #addReplica(): void {
    const name = 'execution-3'
    if (this.#system.machinesOf('execution').some((host) => host.name === name)) return
    const leave = async () => {
      const host = this.#system.machinesOf('execution').find((one) => one.name === name)
      if (host !== undefined) await this.#system.crash(host)
    }
    this.#world.after(this.#world.chance.between(2000, 12_000), leave, undefined)
    // Its start waits for the world, so the world does not wait for it.
    void this.#system.start(name)
  }

  #for(words: string, begin: () => unknown, end: () => unknown): void {
    const forMs = this.#world.chance.between(200, 6000)
    this.#world.tell(`${words} for ${forMs} ms`, undefined)
    begin()
    const over = () => {
      this.#world.tell(`no more: ${words}`, undefined)
      end()
    }
    this.#world.after(forMs, over, undefined)
  }
}
