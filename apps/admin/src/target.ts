import type { Neighbours } from '@automation/rpc'

/** Services that an operator calls, until they are closed. */
export interface OpenServices extends Pick<Neighbours, 'client' | 'inCells'> {
  close(): Promise<void>
}

/** A system that the command line talks to. */
export interface Target extends OpenServices {
  /** What people reach of it. */
  shown: Shown
}

export interface Shown {
  /** Where the REST interface is. */
  restUrl: string
  /** Where people are at home; undefined where there is no console. */
  consoleUrl: string | undefined
  /** The team that is meant where none is named. */
  firstTeam: string
}
