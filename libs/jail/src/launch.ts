import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { basename, join } from 'node:path'
import type { Logger } from '@automation/service'
import type { CpuGroups } from './cpu-groups.ts'
import type { IsolationConfig } from './isolation/config.ts'
import { leftOversIn, ownPrefix } from './left-overs.ts'
import { inJail, type JailProgram, type ProgramMount } from './program.ts'
import { Output, Reception } from './reception.ts'
import { Starter, type Interpreter, type Order } from './starter.ts'
import { EscapeProbe } from './isolation/trial.ts'
import { chooseIsolation, networkHelpers, partsTeams, type Candidate, type Isolation } from './isolation/isolation.ts'

// Where a child has what it says and hears beside its outputs.
const usualChannels = [3, 4]
const controlDescriptor = 5
const triesToRemove = 5

/** The channels of a started child; `control` is its launcher's. */
export interface Launched {
  output: Output
  errors: Output
  /** To its descriptors 3 and 4, or to those that its program names. */
  channels: Socket[]
  /** Of a program that listens: the path of its socket. */
  listen: string | undefined
  control: Socket
  /** Its private directory, where that is not in a memory of its own. */
  directory: string | undefined
  /** As it was given to it. */
  environment: Record<string, string>
}

export interface LauncherOptions {
  /** Whose children these are: `runner`. It is in the name of the directory that holds the private ones. */
  name: string
  interpreter: Interpreter
  tmpDir: string
  /** Who a child is in a jail; also the name of the host there. */
  account?: string
  /** Where its private directory is in a jail. */
  home?: string
  /** What that may hold. */
  homeMb: number
  /** How many files each megabyte of it may be, where it is in a memory of its own. */
  filesPerMb?: number
  /** How many processes it may have in a jail. */
  processes?: number
  /** Whether a jail has terminals of its own. */
  terminals?: boolean
  /** Each child in isolation gets one of its own. */
  groups?: CpuGroups | undefined
  /** No child shares its loopback with another, where the isolation can part them. */
  apart?: boolean
  isolation: IsolationConfig
  /** What children need beside the system. */
  mounts: ProgramMount[]
  /** At least one: what must run in isolation; each says something on its descriptor 4 when it has started. */
  trials: JailProgram[]
  logger: Logger
}

/** Starts children, each under a launcher that ends everything below it. */
export class Launcher {
  readonly #root: string
  readonly #options: LauncherOptions
  readonly #reception: Reception
  #starter!: Starter
  /** The program that children may be forks of. */
  #ahead: string | undefined
  /** The isolation around all children. */
  isolation!: Isolation
  #count = 0

  private constructor(root: string, options: LauncherOptions, reception: Reception) {
    this.#root = root
    this.#options = options
    this.#reception = reception
  }

  /**
   * Makes the directory that holds the private ones, and chooses the isolation by trying. Throws words for people where
   * there is no isolation that the configuration allows.
   */
  static async prepare(options: LauncherOptions): Promise<Launcher> {
    await removeLeftOvers(options.name, options.tmpDir, options.logger)
    const root = ownDirectory(options.name, options.tmpDir)
    const launcher = new Launcher(root, options, await Reception.open(socketIn(root)))
    try {
      await launcher.#choose()
      return launcher
    } catch (error) {
      launcher.close()
      throw error
    }
  }

  /**
   * Starts a child, to which these mounts are shown, too; a low priority holds from its first moment. Rejects when
   * it does not come.
   */
  async start(program: JailProgram, readable: ProgramMount[] = [], hasLowPriority = false): Promise<Launched> {
    return this.#launch(program, readable, hasLowPriority)
  }

  /** In which children are; undefined where they have none. */
  get groups(): CpuGroups | undefined {
    return this.isolation.level === 'none' ? undefined : this.#options.groups
  }

  /** The starter of the isolation that holds stays. */
  async #choose(): Promise<void> {
    const { interpreter, mounts: readable, trials, isolation: config, logger, apart } = this.#options
    const {
      account = 'run',
      home = '/tmp',
      homeMb,
      filesPerMb = 64,
      processes = 256,
      terminals = false,
      groups,
    } = this.#options
    const jail = { readable, account, home, homeMb, filesPerMb, processes, terminals }
    const probe = await EscapeProbe.start(this.#root)
    const { egressAllow: egress } = config
    const ports = [...config.closedPorts, probe.port]
    const addresses = ownAddresses
    const { path } = interpreter
    const { ahead: _, ...plain } = trials[0]!
    const tryOut = async (candidate: Candidate) => {
      this.#starter?.close()
      const prefixes = candidate.level === 'none' ? undefined : groups?.prefixes
      // Forks of one process have the seed of hashes and the places of memory in common.
      const mayFork = candidate.level !== 'none' && !partsTeams(candidate)
      const ahead = mayFork ? trials.find((program) => program.ahead !== undefined) : undefined
      this.#ahead = ahead?.ahead
      const isolation = { ...candidate, ...jail, groups: prefixes, ports, egress, addresses }
      const shown = ahead && candidate.level === 'namespaces' ? inJail(ahead, readable) : ahead
      const starter: Starter = new Starter(path, isolation, shown, logger, (why) =>
        this.#reception.giveUpAll(why, starter),
      )
      this.#starter = starter
      this.isolation = { ...candidate, open: [], tried: [], oneTeam: true }
      return probe.tryOut(candidate, {
        starterPids: () => [starter.pid],
        children: () => trials.map((program) => this.#launch(program)),
        python: (...parameters) => this.#launch({ ...plain, program: [path, '-I', '-S', ...parameters] }),
      })
    }
    try {
      this.isolation = await chooseIsolation(config, networkHelpers(), tryOut, apart)
    } finally {
      probe.close()
    }
  }

  async #launch(program: JailProgram, readable: ProgramMount[] = [], hasLowPriority = false): Promise<Launched> {
    const token = randomBytes(16).toString('hex')
    const scratch = join(this.#root, String((this.#count += 1)))
    const { channels = usualChannels } = program
    const listen = program.listens === true ? `${scratch}.socket` : undefined
    const starter = this.#starter
    const goesOn = program.ahead !== undefined && program.ahead === this.#ahead
    const coming = this.#reception.expect(starter, token, [controlDescriptor, ...channels])
    const isJail = this.isolation.level === 'namespaces'
    const found = isJail ? inJail(program, this.#options.mounts) : program
    const environment = withHome(found.environment, isJail ? this.#options.home : scratch)
    const { program: words, dataLimitBytes: dataLimit } = found
    this.#order(starter, {
      ...{ socket: this.#reception.path, token, channels, scratch, dataLimit, goesOn, hasLowPriority, readable },
      ...(listen !== undefined && { listen }),
      ...{ program: words, environment },
    })
    const [control, ...connected] = (await coming) as [Socket, ...Socket[]]
    const outputs: Output[] = []
    try {
      for (const name of ['1', '2']) outputs.push(Output.open(`${scratch}.${name}`))
    } catch (error) {
      // Its launcher ends with its control channel.
      for (const socket of [control, ...connected, ...outputs]) socket.destroy()
      throw error
    }
    control.write('G')
    const [output, errors] = outputs as [Output, Output]
    return {
      output,
      errors,
      channels: connected,
      control,
      listen,
      environment,
      directory: isJail ? undefined : scratch,
    }
  }

  #order(starter: Starter, order: Order): void {
    try {
      starter.order(order)
    } catch (error) {
      this.#reception.giveUp(order.token, error as Error)
    }
  }

  /** Nothing more is started: what is on its way is given up. */
  refuse(): void {
    this.#reception.close()
  }

  close(): void {
    this.#starter?.close()
    this.#reception.close()
    this.#options.groups?.close()
    // A launcher may be removing its own directory there: then the removal comes to nothing, and says so or not.
    for (let tries = 0; tries < triesToRemove && existsSync(this.#root); tries += 1)
      rmSync(this.#root, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 })
  }
}

/** What has a home is told where that is. */
function withHome(environment: Record<string, string>, home: string | undefined): Record<string, string> {
  return 'HOME' in environment && home !== undefined ? { ...environment, HOME: home } : environment
}

/** By which the host is reached from elsewhere, or only by itself, but for the loopback that a jail has, too. */
function ownAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return all.map(({ address }) => address).filter((each) => each !== '::1' && !each.startsWith('127.'))
}

/** A new directory of a service of this name, which nobody else may look into. */
export function ownDirectory(name: string, tmpDir: string): string {
  return mkdtempSync(join(tmpDir, ownPrefix(name)))
}

function socketIn(root: string): string {
  return join(root, 'socket')
}

/** Removes the directories of services of this name that were killed. */
export async function removeLeftOvers(name: string, tmpDir: string, logger: Logger): Promise<void> {
  for (const path of leftOversIn(tmpDir, name)) {
    try {
      if (!(await isListening(socketIn(path)))) rmSync(path, { recursive: true, force: true })
    } catch (error) {
      logger.warn({ err: error, name: basename(path) }, 'what another service has left could not be removed')
    }
  }
}

/** Whether somebody does, also in another container, whose processes are not seen here. */
async function isListening(path: string): Promise<boolean> {
  const socket = connect(path)
  try {
    await once(socket, 'connect')
    return true
  } catch (error) {
    // It has no room for another connection.
    return (error as NodeJS.ErrnoException).code === 'EAGAIN'
  } finally {
    socket.destroy()
  }
}
