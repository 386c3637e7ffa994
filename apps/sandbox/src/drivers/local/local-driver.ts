import { CpuGroups, describeIsolation, findInterpreter, Launcher, nodeMount, removeLeftOvers } from '@automation/jail'
import type { Check, Logger } from '@automation/service'
import type { Image } from '../../catalogue.ts'
import type { LocalDriverConfig } from '../../config.ts'
import type { Daemons } from '../daemons.ts'
import { SandboxFault, type Driver, type DriverEvents, type SandboxOrder } from '../driver.ts'
import { DaemonFiles } from './daemon-files.ts'
import { daemonProgram, trialProgram } from './daemon-program.ts'
import { Jail, wordsOn } from './jail.ts'
import { Limits } from './limits.ts'
import { WarmJails } from './warm-jails.ts'

interface LocalDriverOptions {
  config: LocalDriverConfig
  daemons: Daemons
  logger: Logger
}

interface Held {
  order: SandboxOrder
  /** Undefined while it is started. */
  jail: Jail | undefined
  /** Its daemon has been given it. */
  isAdopted: boolean
  /** Somebody wants its end, for this reason where there is one. */
  isUnwanted: boolean
  reason: string | undefined
  made: Promise<string>
  gone: PromiseWithResolvers<void>
}

const adoptWithinMs = 20_000
const home = '/home/sandbox'
const directoryName = 'sandbox'

/** Sandboxes on this machine: a jail for each, isolated as runs are, with the machine's own programs. */
export class LocalDriver implements Driver {
  readonly name = 'local'
  readonly outlivesService = false
  readonly lostReason = 'It is gone: nothing of it could be found'
  readonly #options: LocalDriverOptions
  readonly #held = new Map<string, Held>()
  readonly #limits: Limits
  readonly #warm = new WarmJails()
  #events: DriverEvents = { ended: () => undefined }
  #launcher: Promise<Launcher> | undefined
  #python = ''
  #files: DaemonFiles | undefined
  /** Where the isolation parts no teams: whose sandboxes these are. */
  #onlyTeam: string | undefined
  #checks: Check[] = [{ name: 'sandbox isolation', ok: true, detail: 'tried with the first sandbox' }]

  constructor(options: LocalDriverOptions) {
    this.#options = options
    this.#limits = new Limits({
      homeMb: options.config.homeMb,
      maxProcesses: options.config.maxProcesses,
      sandboxes: () => this.#running(),
      exceeded: (id, reason) => void this.#giveUp(id, reason),
      logger: options.logger,
    })
  }

  async start(events: DriverEvents): Promise<void> {
    this.#events = events
    await removeLeftOvers(directoryName, this.#options.config.tmpDir, this.#options.logger)
    this.#limits.start()
  }

  create(order: SandboxOrder): Promise<string> {
    const known = this.#held.get(order.id)
    if (known !== undefined) return known.made
    const held: Held = {
      order,
      jail: undefined,
      isAdopted: false,
      isUnwanted: false,
      reason: undefined,
      made: Promise.resolve(''),
      gone: Promise.withResolvers(),
    }
    this.#held.set(order.id, held)
    held.made = this.#make(held)
    return held.made
  }

  async end(id: string): Promise<void> {
    const held = this.#held.get(id)
    if (held === undefined) return
    held.isUnwanted = true
    await held.jail?.end()
    await held.gone.promise
  }

  async list(): Promise<string[]> {
    return [...this.#held.keys()]
  }

  async ready(): Promise<Check[]> {
    return this.#checks
  }

  async stop(): Promise<void> {
    await Promise.all([this.#limits.stop(), this.#warm.stop(), ...[...this.#held.keys()].map((id) => this.end(id))])
    await this.#files?.remove()
    await this.#launcher?.then(
      (launcher) => launcher.close(),
      () => undefined, // Then there is nothing to close.
    )
  }

  async #make(held: Held): Promise<string> {
    try {
      const launcher = await this.#prepared()
      this.#admit(held.order.team, launcher)
      const jail = await this.#adopted(launcher, held)
      held.isAdopted = true
      // A sandbox may compute for as long as it lives.
      launcher.groups?.weigh(jail.pid, 'little')
      void this.#prepareMore(held.order.image, launcher)
      return jail.address
    } catch (error) {
      held.isUnwanted = true
      await held.jail?.end()
      this.#forget(held)
      throw error
    }
  }

  /** In one that was kept ready; where that fails, it may be for its own reasons, and a new one is tried. */
  async #adopted(launcher: Launcher, held: Held): Promise<Jail> {
    const { image } = held.order
    const warm = this.#warm.take(image)
    try {
      if (warm !== undefined) return await this.#adopt(held, warm)
    } catch (error) {
      if (held.isUnwanted || held.reason !== undefined) throw error
      this.#options.logger.warn(
        { err: error, image: image.id },
        'a sandbox that was kept ready failed, trying a new one',
      )
      await warm?.end()
    }
    return this.#adopt(held, await this.#started(launcher, image, false))
  }

  async #adopt(held: Held, jail: Jail): Promise<Jail> {
    const { order } = held
    held.jail = jail
    void jail.gone.then((end) => {
      if (!held.isAdopted || held.jail !== jail) return
      this.#forget(held)
      if (!held.isUnwanted) this.#events.ended(order.id, held.reason ?? wordsOn(end))
    })
    if (held.isUnwanted) await jail.end()
    const daemon = { address: jail.address, key: jail.key, environment: jail.environmentOf(order.id) }
    const ended = new AbortController()
    const signal = AbortSignal.any([ended.signal, AbortSignal.timeout(adoptWithinMs)])
    await Promise.race([
      this.#options.daemons.adopt(daemon, order, signal),
      jail.gone.then((end) => {
        ended.abort()
        throw new SandboxFault(held.reason ?? wordsOn(end))
      }),
    ])
    if (jail.ended !== undefined || held.isUnwanted) throw new SandboxFault('It was ended before it had started')
    return jail
  }

  async #started(launcher: Launcher, { memoryMb }: Image, keptReady: boolean): Promise<Jail> {
    const files = this.#files!.path(launcher)
    return new Jail(await launcher.start(daemonProgram({ memoryMb, files, python: this.#python, keptReady })))
  }

  /** What makes the next ones quicker is done behind those that are asked for. */
  async #prepareMore(image: Image, launcher: Launcher): Promise<void> {
    try {
      await this.#files!.compile(launcher, this.#options.logger)
      await this.#warm.fill(image, () => this.#started(launcher, image, true))
    } catch (error) {
      this.#options.logger.warn({ err: error, image: image.id }, 'a sandbox could not be made ready ahead')
    }
  }

  #forget(held: Held): void {
    this.#held.delete(held.order.id)
    held.gone.resolve()
    if (this.#held.size > 0 || this.#onlyTeam === undefined) return
    this.#onlyTeam = undefined
    // Those that were kept ready beside its sandboxes are not for another team.
    this.#warm.clear()
  }

  /** Ends a sandbox that went beyond its limits. */
  async #giveUp(id: string, reason: string): Promise<void> {
    const held = this.#held.get(id)
    if (held === undefined || held.reason !== undefined) return
    held.reason = reason
    await held.jail?.end()
  }

  #admit(team: string, { isolation }: Launcher): void {
    if (!isolation.oneTeam) return
    this.#onlyTeam ??= team
    if (this.#onlyTeam !== team)
      throw new SandboxFault(
        `The isolation of this machine (${isolation.level}) parts no teams, and another team has sandboxes here: ${isolation.remedy}`,
      )
  }

  *#running() {
    for (const { order, jail, isAdopted } of this.#held.values())
      if (jail !== undefined && jail.pid > 0 && isAdopted) yield { id: order.id, memoryMb: order.image.memoryMb, jail }
  }

  /** Chooses the isolation with the first sandbox: most systems never have one. A failure is tried again with the next. */
  #prepared(): Promise<Launcher> {
    this.#launcher ??= this.#prepare().catch((error: unknown) => {
      this.#launcher = undefined
      const words = error instanceof Error ? error.message : String(error)
      this.#checks = [{ name: 'sandbox isolation', ok: false, detail: words }]
      throw new SandboxFault('This machine can not keep sandboxes; its operator finds the reason in /readyz', {
        cause: error,
      })
    })
    return this.#launcher
  }

  async #prepare(): Promise<Launcher> {
    const { config, logger } = this.#options
    const files = (this.#files ??= new DaemonFiles(directoryName, config.tmpDir))
    const bundled = files.bundle()
    bundled.catch(() => undefined) // awaited below
    const interpreter = await findInterpreter(config.python)
    this.#python = interpreter.path
    const launcher = await Launcher.prepare({
      mounts: [nodeMount, files.mount],
      name: directoryName,
      interpreter,
      tmpDir: config.tmpDir,
      isolation: config.isolation,
      account: 'sandbox',
      home,
      homeMb: config.homeMb,
      processes: config.maxProcesses,
      terminals: true,
      groups: CpuGroups.find(directoryName),
      apart: true,
      trials: [trialProgram],
      logger,
    })
    try {
      await bundled
    } catch (error) {
      launcher.close()
      throw error
    }
    const detail = describeIsolation(launcher.isolation)
    const level = launcher.isolation.tried.length === 0 ? 'info' : 'warn'
    logger[level]({ isolation: launcher.isolation }, `the isolation around sandboxes: ${detail}`)
    this.#checks = [{ name: 'sandbox isolation', ok: true, detail }]
    return launcher
  }
}
