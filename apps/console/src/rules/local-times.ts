// A format takes longer to make than to use.
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const dayAndClock = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' })
const clockToMs = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
})
const dayAndSeconds = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

/** The zone of the browser, such as `Europe/Berlin`. */
export const ownZone: string = clock.resolvedOptions().timeZone

/** The clock of 24 hours at a time in milliseconds since 1970, in the zone of the browser: `07:30`. */
export const clockOf = (atMs: number): string => clock.format(atMs)

/** That clock to the millisecond: `07:30:00.123`. */
export const clockToMsOf = (atMs: number): string => clockToMs.format(atMs)

/** A time in full, in the zone of the browser and then in UTC. */
export const inFull = (at: string): string => `${dayAndSeconds.format(Date.parse(at))} ${ownZone}\n${at}`

/** The day there: `24 Nov`. */
export const dayOf = (atMs: number): string => day.format(atMs)

/** The day with its year, and the clock: `24 Nov 2026, 07:30`. */
export const dayAndClockOf = (atMs: number): string => dayAndClock.format(atMs)

/** A time as an input of the type datetime-local has it, in the zone of the browser. */
export function localInput(at: string): string {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return ''
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** The instant that such an input means; empty where it is. */
export function instantOf(local: string): string {
  const date = new Date(local)
  return local === '' || Number.isNaN(date.getTime()) ? '' : date.toISOString()
}
