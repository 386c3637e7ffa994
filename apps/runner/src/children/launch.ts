import { randomBytes } from 'node:crypto'
import { constants, existsSync, mkdtempSync, openSync, readdirSync, rmSync, unlinkSync } from 'node:fs'
import { Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import type { Logger } from '@automation/service'
import type { WallConfig } from '../wall/config.ts'
import { networkHelpers } from '../wall/helper.ts'
import { Bait } from '../wall/trial.ts'
import { chooseWall, type Candidate, type Wall } from '../wall/wall.ts'
import { findInterpreter, type Interpreter } from './interpreter.ts'
import { childPrograms, inJail, programPlaces, type ChildLanguage, type ChildProgram } from './programs.ts'
import { Reception } from './reception.ts'
import { Starter } from './starter.ts'

const directoryPrefix = 'automation-runner-'
const triesToRemove = 5

/** The channels of a started child; `control` is its launcher's. */
export interface Launched {
  output: Socket
  errors: Socket
  frames: Socket
  answers: Socket
  control: Socket
  /** Its private directory, where that is not in a memory of its own. */
  directory: string | undefined
}

export interface LauncherOptions {
  python: string
  tmpDir: string
  memoryMb: number
  wall: WallConfig
  logger: Logger
}

/** Starts children, each under a launcher that ends everything below it. */
export class Launcher {
  readonly #root: string
  readonly #python: Interpreter
  readonly #programs: ChildProgram[]
  readonly #reception: Reception
  #starter!: Starter
  /** The wall around all children. */
  wall!: Wall
  #count = 0

  private constructor(root: string, python: Interpreter, memoryMb: number, reception: Reception) {
    this.#root = root
    this.#python = python
    this.#programs = childPrograms({ python: python.tooOld === undefined ? python.path : undefined, memoryMb })
    this.#reception = reception
  }

  /**
   * Finds Python, makes the directory that holds the private ones, and chooses the wall by trying. Throws words for
   * people where there is no Python, or no wall that the configuration allows.
   */
  static async prepare({ python, tmpDir, memoryMb, wall, logger }: LauncherOptions): Promise<Launcher> {
    const interpreter = await findInterpreter(python)
    if (interpreter.tooOld !== undefined) logger.warn({ python: interpreter.path }, interpreter.tooOld)
    removeLeftOvers(tmpDir, logger)
    const root = mkdtempSync(join(tmpDir, `${directoryPrefix}${process.pid}-`))
    const launcher = new Launcher(root, interpreter, memoryMb, await Reception.open(join(root, 'socket')))
    try {
      await launcher.#choose(wall, logger)
      return launcher
    } catch (error) {
      launcher.close()
      throw error
    }
  }

  /** Why Python processes can't be run here; undefined when they can. */
  get withoutPython(): string | undefined {
    return this.#python.tooOld
  }

  /** The languages of which children can be started. */
  get languages(): ChildLanguage[] {
    return this.#programs.map(({ language }) => language)
  }

  /** Starts a blank child of a language; rejects when it does not come. */
  async start(language: ChildLanguage): Promise<Launched> {
    const program = this.#programs.find((each) => each.language === language)
    if (program === undefined) throw new Error(`children of ${language} can't be started here`)
    return this.#launch(program)
  }

  /** The starter of the wall that holds stays. */
  async #choose(config: WallConfig, logger: Logger): Promise<void> {
    const bait = await Bait.lay(this.#root)
    const { tmpMb, egressAllow: egress } = config
    const ports = [...config.closedPorts, bait.port]
    const addresses = ownAddresses()
    const { path } = this.#python
    const tryOut = async (candidate: Candidate) => {
      this.#starter?.close()
      const wall = { ...candidate, ports, readable: programPlaces, tmpMb, egress, addresses }
      const starter = (this.#starter = new Starter(path, wall, logger))
      this.wall = { ...candidate, open: [], tried: [], oneTeam: true }
      return bait.tryOut(candidate, {
        starterPid: () => starter.pid,
        children: () => this.#programs.map((program) => this.#launch(program)),
        python: (...parameters) => this.#launch({ ...this.#programs[0]!, program: [path, '-I', '-S', ...parameters] }),
      })
    }
    try {
      this.wall = await chooseWall(config, networkHelpers(), tryOut)
    } finally {
      bait.close()
    }
  }

  async #launch(program: ChildProgram): Promise<Launched> {
    const token = randomBytes(16).toString('hex')
    const scratch = join(this.#root, String((this.#count += 1)))
    const coming = this.#reception.expect(token)
    this.#order(token, scratch, this.wall.wall === 'namespaces' ? inJail(program) : program)
    const [frames, answers, control] = await coming
    const open: Socket[] = [frames, answers, control]
    try {
      for (const name of ['1', '2']) open.push(readerOf(`${scratch}.${name}`))
    } catch (error) {
      // Its launcher ends with its control channel.
      for (const socket of open) socket.destroy()
      throw error
    }
    control.write('G')
    const directory = this.wall.wall === 'namespaces' ? undefined : scratch
    return { output: open[3]!, errors: open[4]!, frames, answers, control, directory }
  }

  #order(token: string, scratch: string, { program, dataLimitBytes: dataLimit, environment }: ChildProgram): void {
    try {
      this.#starter.order({ socket: this.#reception.path, token, scratch, dataLimit, program, environment })
    } catch (error) {
      this.#reception.giveUp(token, error as Error)
    }
  }

  /** Nothing more is started: what is on its way is given up. */
  refuse(): void {
    this.#reception.close()
  }

  close(): void {
    this.#starter?.close()
    this.#reception.close()
    // A launcher may be removing its own directory there: then the removal comes to nothing, and says so or not.
    for (let tries = 0; tries < triesToRemove && existsSync(this.#root); tries += 1)
      rmSync(this.#root, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 })
  }
}

/** Opens a named pipe that the launcher holds open, too; its name is not needed any more. */
function readerOf(path: string): Socket {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  unlinkSync(path)
  return new Socket({ fd: descriptor, readable: true, writable: false })
}

/** By which the host is reached from elsewhere. */
function ownAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return all.filter(({ internal }) => !internal).map(({ address }) => address)
}

/** Directories of runners that were killed. */
function removeLeftOvers(tmpDir: string, logger: Logger): void {
  for (const name of readdirSync(tmpDir)) {
    const pid = name.startsWith(directoryPrefix) ? name.slice(directoryPrefix.length).split('-')[0] : undefined
    if (pid === undefined || existsSync(`/proc/${pid}`) || !existsSync('/proc/self')) continue
    try {
      rmSync(join(tmpDir, name), { recursive: true, force: true })
    } catch (error) {
      logger.warn({ err: error, name }, 'what another runner has left could not be removed')
    }
  }
}
