import { stripVTControlCharacters } from 'node:util'

/** A text of others as one line of a terminal: without control characters, which could write elsewhere on the screen. */
export function oneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- it is them that are removed
  return stripVTControlCharacters(text).replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')
}

/** A text of others that keeps its lines and tabs, without other control characters. */
export function severalLines(text: string): string {
  // oxlint-disable-next-line no-control-regex -- as above
  return stripVTControlCharacters(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]+/g, ' ')
}
