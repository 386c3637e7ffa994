import { invalid } from '@automation/errors'

/** How far a reader of an execution has come: everything up to here was told. */
export interface Position {
  /** Of the last timeline event. */
  sequence: number
  /** How many lines of the run's own log, and of those that were added to it. */
  lines: number
  appended: number
  /** The last line was told, and not yet the end that it stands for. */
  closed?: boolean
}

export const beginning: Position = { sequence: 0, lines: 0, appended: 0 }

const pattern = /^([0-9a-f]{8})\.(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:\.(end|closed))?$/

/** A position as readers keep it; it is good for this execution only. */
export function positionText(id: string, { sequence, lines, appended, closed }: Position): string {
  return `${markOf(id)}.${sequence}.${lines}.${appended}${closed ? '.closed' : ''}`
}

/** The position of the end itself: another text than that of the last event. */
export function endText(id: string, position: Position): string {
  return `${positionText(id, position)}.end`
}

/** Reads what `positionText` or `endText` wrote; empty is the beginning. Failure: invalid_position. */
export function readPosition(id: string, text: string): Position {
  if (text === '') return beginning
  const [, mark, sequence, lines, appended, state] = pattern.exec(text) ?? []
  if (mark !== markOf(id) || Number(sequence) === 0) throw invalidPosition()
  return { sequence: Number(sequence), lines: Number(lines), appended: Number(appended), closed: state === 'closed' }
}

/** Failure: a position that is not of this execution. */
export function invalidPosition() {
  return invalid('/after', 'is not a position of this execution', 'invalid_position')
}

/** The end of an id: its beginning is a time, which neighbours share. */
function markOf(id: string): string {
  return id.slice(-8)
}
