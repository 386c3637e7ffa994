import type { OnLine } from '../logs/output-reader.ts'
import type { ChildLanguage } from './programs.ts'
import type { Used } from './run-meter.ts'

/** What a child needs to run a version: equal keys may share a child, whose frame it gets once. */
export interface Program {
  key: string
  team: string
  language: ChildLanguage
  /** The packages that its children are shown, and where they lie on this machine. */
  packages?: ShownPackages
  frame: Buffer
}

export interface ShownPackages {
  key: string
  path: string
}

/** What runs of a version see beside their own parameters; another object than before is sent again. */
export interface Surroundings {
  frame: Buffer
}

/** How a run ended, as far as its child can say. */
export type Ending =
  | { kind: 'value'; json: Buffer; transient: boolean }
  | { kind: 'failure'; name: string; message: string; stack: string }
  | { kind: 'died'; exit: Exit; ofMemory?: WhoseMemory }

/** Whose memory was used up: the run's, or what the runner's pod has for all that it runs. */
export type WhoseMemory = 'run' | 'runner'

/** How a process ended: `failed` where it could not even be started. */
export type Exit =
  | { kind: 'exit'; code: number }
  | { kind: 'signal'; signal: number }
  | { kind: 'failed'; words: string }

/** A run, as the children see it. */
export interface Task {
  program: Program
  surroundings: Surroundings
  /** Gets a child of its own that ends with it. */
  fresh: boolean
  /** The frame that starts it, as the child's run of this number. */
  frame(number: number): Buffer
  /** It has been sent to this child. */
  started(child: RunningChild): void
  output: OnLine
  /** Nothing more that it prints is kept. */
  readonly isFull: boolean
  /** Its code waits for other runs to end. */
  readonly isWaiting: boolean
  /** Process code asks for something: JSON text. */
  called(payload: Buffer): void
  /** All that it printed has been given to `output`. Called once; `used` where it has run. */
  ended(ending: Ending, used?: Used): void
}

/** What a task may do with the child that runs it. */
export interface RunningChild {
  /** Sends a frame, such as the answer to a call. */
  send(frame: Buffer): void
  /** Whether what it says is read; while it is not, the child waits with more. */
  listen(listens: boolean): void
  /** Ends the child with all its processes: SIGTERM and a second later SIGKILL, or SIGKILL at once. */
  end(how: 'terminate' | 'kill'): void
  readonly pid: number
}
