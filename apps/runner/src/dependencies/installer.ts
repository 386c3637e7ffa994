import type { Socket } from 'node:net'
import { dirname, delimiter, isAbsolute, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { access, realpath } from 'node:fs/promises'
import { lookup } from 'node:dns/promises'
import { Language } from '@automation/contract/common/v1/language'
import type { DependencySet } from '@automation/contract/catalog/v1/resolve'
import {
  CpuGroups,
  endBelow,
  findInterpreter,
  Launcher,
  nodeMount,
  shownRoot,
  type Launched,
  type IsolationConfig,
  type JailProgram,
} from '@automation/jail'
import type { Logger } from '@automation/service'
import { exitOf, pidOf } from '../children/ending.ts'
import { limitsOf, unpackArchive, type Unpacked } from './archive.ts'
import type { DependenciesConfig } from './config.ts'
import { InstallTurns } from './install-turns.ts'

export interface InstallerOptions {
  config: DependenciesConfig
  python: string
  tmpDir: string
  isolation: IsolationConfig
  logger: Logger
}

/** What an install may tell of itself on its way. */
export interface InstallEvents {
  line(text: string): void
  /** It has begun, and may be ended by this. */
  began(end: (how: 'terminate' | 'kill') => void): void
}

export interface InstallOptions {
  /** Whose turn it takes. */
  team: string
  events?: InstallEvents
  /** Ends it. */
  signal: AbortSignal
  /** Where its archive goes on its way. */
  through?: (archive: AsyncIterable<Buffer>) => AsyncIterable<Buffer>
}

const MB = 2 ** 20
// A launcher that was told to end what it started has done so long before.
const lastResortMs = 3000
// Node's own address space, and what an installer holds.
const dataLimitBytes = 4096 * MB
// Beside what a set may hold, npm keeps it packed until it is done. Packages are little files: each takes a page.
const roomFactor = 2
// Where an install is made in a jail.
const home = '/tmp'
const filesPerMb = 256
const lastLines = 20
const lineMaxCharacters = 500
// Of a line: paths within it become shorter.
const longestRead = 4 * lineMaxCharacters
const programPath = fileURLToPath(new URL('../../children/installer/install.py', import.meta.url))
const lastWordsMs = 2000
const programFolder = dirname(programPath)

/** Runs npm and pip, each install in a jail of its own, without scripts and without anything of a team's. */
export class Installer {
  readonly #options: InstallerOptions
  readonly #turns = new InstallTurns()
  #launcher: Promise<Launcher> | undefined
  /** What is started for each install. */
  #program!: JailProgram
  /** Paths of the runner, and as what its users know what is there. */
  #places: Place[] = []

  constructor(options: InstallerOptions) {
    this.#options = options
  }

  /**
   * Installs these packages, when it is their turn, and writes them below an empty directory. Throws the installer's last
   * lines where it fails, and ends it where it takes too long.
   */
  install(language: Language, set: DependencySet, directory: string, options: InstallOptions): Promise<Unpacked> {
    return this.#turns.take(options.team, () => this.#install(language, set, directory, options))
  }

  async #install(
    language: Language,
    { packages }: DependencySet,
    directory: string,
    { events, signal, through = (archive) => archive }: InstallOptions,
  ): Promise<Unpacked> {
    const { config } = this.#options
    const { launcher, ...launched } = await this.#start(signal)
    const { output, errors, channels, control } = launched
    const [orders, answers] = channels as [Socket, Socket]
    const made = launched.directory ?? home
    const lines = new LastLines(events, [[`${made}/set`, '.'], [made, '.'], ...this.#places])
    for (const stream of [output, errors]) stream.onBytes((bytes) => lines.push(bytes.toString()))
    let report = ''
    const gone = new Promise<void>((resolve) => control.once('close', resolve))
    control.on('data', (chunk: Buffer) => (report += chunk.toString('latin1')))
    events?.began((how) => control.write(how === 'kill' ? 'K' : 'T'))
    const end = (how: 'T' | 'K') => {
      control.write(how)
      lastResort ??= setInterval(() => {
        if (pidOf(report) > 0) endBelow(pidOf(report), launched.directory === undefined).catch(() => undefined)
      }, lastResortMs)
    }
    const abandon = () => end('T')
    let lastResort: NodeJS.Timeout | undefined
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      end('T')
    }, config.installMs)
    signal.addEventListener('abort', abandon)
    if (signal.aborted) abandon()
    // As what runs compute with where processors are short.
    const begun = () => launcher.groups?.weigh(pidOf(report), 'little')
    const isPython = language === Language.PYTHON
    const registry = (isPython ? config.pypiIndex : config.npmRegistry) ?? ''
    const auth = isPython ? '' : (config.npmAuth ?? '')
    const name = Language[language]
    const { allowGit, maxMb } = config
    orders.write(`${JSON.stringify({ language: name, packages, registry, auth, allowGit, maxMb })}\n`)
    try {
      return await unpackArchive(through(afterHello(answers, begun)), directory, limitsOf(config))
    } catch (error) {
      // One that has closed its answer is about to end, and says how.
      if (answers.readableEnded) await Promise.race([gone, sleep(lastWordsMs, undefined, { ref: false })])
      end('K')
      await gone
      const exit = exitOf(report)
      if (isLate) {
        throw new Error(`${wordsOfLate(config, isPython)}\n${lines.text}`, { cause: error })
      }
      const hasFailed = exit.kind === 'exit' && exit.code !== 0
      if (!hasFailed) throw error
      const isFull = ofLargeFile.test(lines.text) || (launched.directory === undefined && ofFull.test(lines.text))
      const words = isFull ? wordsOfFull(config) : adviceOn(lines.text)
      throw new Error(words === undefined ? lines.text : `${words}\n${lines.text}`, { cause: error })
    } finally {
      await gone
      clearTimeout(timer)
      clearInterval(lastResort)
      signal.removeEventListener('abort', abandon)
      for (const stream of [output, errors, ...channels]) stream.destroy()
    }
  }

  async close(): Promise<void> {
    const launcher = await this.#launcher?.catch(() => undefined)
    launcher?.refuse()
    launcher?.close()
  }

  async #start(signal: AbortSignal): Promise<Launched & { launcher: Launcher }> {
    // An isolation level that could not be had is tried for again.
    this.#launcher ??= this.#prepare().catch((error: unknown) => {
      this.#launcher = undefined
      throw error
    })
    const launcher = await this.#launcher
    signal.throwIfAborted()
    return { launcher, ...(await launcher.start(this.#program)) }
  }

  async #prepare(): Promise<Launcher> {
    const { config, tmpDir, isolation, logger } = this.#options
    const interpreter = await findInterpreter(this.#options.python)
    const npm = await findNpm(config.npm)
    const { certificates } = config
    this.#places = [
      ...(npm === undefined ? [] : [npm.folder, `${shownRoot}/npm`].map((path): Place => [path, 'npm'])),
      ...[nodeMount.path, nodeMount.shown].map((path): Place => [path, 'node']),
      [interpreter.path, 'python'],
    ]
    this.#program = {
      program: [
        ...[interpreter.path, '-I', '-S', programPath],
        ...[process.execPath, npm?.program ?? '-', certificates ?? '-'],
      ],
      environment: { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' },
      dataLimitBytes,
    }
    return Launcher.prepare({
      name: 'installer',
      interpreter,
      tmpDir,
      home,
      homeMb: config.maxMb * roomFactor,
      filesPerMb,
      groups: CpuGroups.find('installer'),
      isolation: await isolationTo(
        [config.npmRegistry, config.pypiIndex].filter((each) => each !== undefined),
        isolation,
      ),
      mounts: [
        nodeMount,
        { path: programFolder, shown: `${shownRoot}/apps/runner/children/installer` },
        ...(npm === undefined ? [] : [{ path: npm.folder, shown: `${shownRoot}/npm` }]),
        ...(certificates === undefined
          ? []
          : [{ path: certificates, shown: `${shownRoot}/registry-certificates.pem` }]),
      ],
      trials: [this.#program],
      logger,
    })
  }
}

/** The stream after the one byte by which the program says that it has started. */
async function* afterHello(answers: AsyncIterable<Buffer>, begun: () => void): AsyncGenerator<Buffer> {
  let isFirst = true
  for await (const chunk of answers) {
    if (isFirst) begun()
    const rest = isFirst ? chunk.subarray(1) : chunk
    isFirst = false
    if (rest.length > 0) yield rest
  }
}

// The files that npm speaks of are gone with the installer.
const ofItself = /A complete log of this run can be found in|For a full report see:|\/npm\/_logs\//

// As npm, pip and git say it.
const ofLargeFile = /EFBIG|File too large/i
const ofFull = /ENOSPC|No space left on device/i

/** What to do about what pip and npm, as they are run here, leave open or tell in words of another thing. */
const advice: [said: RegExp, words: string][] = [
  [
    /: No module named pip$/m,
    'The Python of the runner has no pip, which installs packages of Python. Install it on the machine of the runner (apt install python3-pip, dnf install python3-pip)',
  ],
  [
    // What can't be reached it tells in these words, too.
    /^(?![^]*(?:Retrying|[Cc]onnection|HTTP error|status code))[^]*No matching distribution found/,
    'PyPI, or the index in its place, has no such package or version as a wheel for the Python of the runner. Look there for its name, versions and files: what is source alone is not built here, and often another package has wheels, such as psycopg2-binary for psycopg2',
  ],
  [
    /npm error code E404/,
    'The registry of npm, or the one in its place, has no such package, or shows it to nobody without a token: look there for its name',
  ],
  [
    /npm error code ERESOLVE/,
    'The packages want versions of each other, or of one that both need, that do not go together: name other versions of them. What npm says of --force and --legacy-peer-deps can not be done here',
  ],
  [
    /transport 'ssh' not allowed/,
    'The repository can not be read over https without signing in: its address is not right or not reachable, or it is private. What npm says of ssh is its second attempt, which is not allowed',
  ],
]

function adviceOn(text: string): string | undefined {
  return advice.find(([said]) => said.test(text))?.[1]
}

function wordsOfLate({ installMs }: DependenciesConfig, isPython: boolean): string {
  const exact = isPython ? '==1.2.3' : '1.2.3'
  return `The installation took longer than ${installMs / 1000} s. Nothing of it is kept: ask for it again when the runner and the registry have less to do, for fewer packages at once, or for exact versions (${exact}), which need no search for those that fit together`
}

function wordsOfFull({ maxMb }: DependenciesConfig): string {
  const [mb, files] = [maxMb * roomFactor, maxMb * roomFactor * filesPerMb]
  return `The packages need more than the ${mb} MiB and ${files} files that an install may take (DEPENDENCIES_MAX_MB)`
}

/** A path of the runner, and what is said in its place. */
type Place = [path: string, said: string]

/** What an installer has said last. */
class LastLines {
  readonly #events: InstallEvents | undefined
  readonly #places: [path: RegExp, said: string][]
  readonly #lines: string[] = []
  #rest = ''

  constructor(events: InstallEvents | undefined, places: Place[]) {
    this.#events = events
    // A path that begins with another's comes first.
    this.#places = places
      .toSorted(([a], [b]) => b.length - a.length)
      .map(([path, said]) => [new RegExp(String.raw`(?<![\w./-])${RegExp.escape(path)}(?![\w-])`, 'g'), said])
  }

  push(text: string): void {
    const lines = (this.#rest + text).split(/\r?\n/)
    this.#rest = lines.pop()!.slice(-longestRead)
    for (const line of lines) this.#add(line)
  }

  get text(): string {
    return [...this.#lines, this.#shown(this.#rest) ?? ''].join('\n').trim() || 'The installer said nothing'
  }

  #add(line: string): void {
    const cut = this.#shown(line)
    if (cut === undefined) return
    this.#events?.line(cut)
    this.#lines.push(cut)
    if (this.#lines.length > lastLines) this.#lines.shift()
  }

  /** A line as users are told of it; undefined of one that says nothing to them. */
  #shown(line: string): string | undefined {
    if (line.trim() === '' || ofItself.test(line)) return undefined
    return this.#places
      .reduce((text, [path, said]) => text.replaceAll(path, said), line.slice(0, longestRead))
      .slice(0, lineMaxCharacters)
  }
}

/** npm's program, and the folder of the package that it belongs to; undefined where there is none. */
async function findNpm(name: string): Promise<{ program: string; folder: string } | undefined> {
  const candidates = isAbsolute(name)
    ? [name]
    : (process.env['PATH'] ?? '').split(delimiter).map((directory) => join(directory, name))
  for (const candidate of candidates) {
    const program = await realpath(candidate).catch(() => undefined)
    // What is found is a script of npm's own package: `npm/bin/npm-cli.js`.
    const folder = program === undefined ? undefined : dirname(dirname(program))
    if (program?.endsWith('.js') !== true || folder === undefined) continue
    if (await isThere(join(folder, 'package.json'))) return { program, folder }
  }
  return undefined
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** An isolation out of which these registries are reached, wherever the operator has put them; those on this machine, too. */
async function isolationTo(registries: string[], isolation: IsolationConfig): Promise<IsolationConfig> {
  const addresses = new Set<string>()
  for (const registry of registries) {
    const host = new URL(registry).hostname.replace(/^\[|\]$/g, '')
    for (const { address } of await lookup(host, { all: true }).catch(() => [])) addresses.add(address)
  }
  const isHere = [...addresses].some((address) => address.startsWith('127.') || address === '::1')
  const network = isHere ? 'host' : isolation.network
  return { ...isolation, network, egressAllow: [...isolation.egressAllow, ...addresses], manyTeamsAnyway: true }
}
