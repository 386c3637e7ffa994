// A longer delay would fire at once.
const LONGEST_DELAY_MS = 2_147_483_647

/** Calls back when an access token ends; `endsMs`: Unix time in ms, that may lie far ahead. */
export function atTokenEnd(endsMs: number, ended: () => void): NodeJS.Timeout {
  return setTimeout(ended, Math.min(Math.max(endsMs - Date.now(), 0), LONGEST_DELAY_MS))
}
