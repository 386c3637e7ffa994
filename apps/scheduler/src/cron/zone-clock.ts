/** A time in which the clocks of a zone run evenly. Milliseconds since 1970; the end is not part of it. */
export interface EvenTime {
  start: number
  end: number
  /** How much later than UTC the clocks are, and were just before the start. */
  offset: number
  offsetBefore: number
}

const known = new Map<string, EvenTime[]>()
const mostKnown = 64

/** The even time of a zone (IANA name) that an instant is in. Throws RangeError for a zone that there is not. */
export function evenTimeAt(zone: string, instant: number): EvenTime {
  const times = known.get(zone) ?? []
  const found = times.find(({ start, end }) => start <= instant && instant < end)
  if (found !== undefined) return found
  const time = readEvenTime(zone, instant)
  if (times.length >= mostKnown) times.shift()
  known.set(zone, [...times, time])
  return time
}

function readEvenTime(zone: string, instant: number): EvenTime {
  const at = Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone)
  const last = at.add({ milliseconds: 1 }).getTimeZoneTransition('previous')
  const next = at.getTimeZoneTransition('next')
  const offset = at.offsetNanoseconds / 1e6
  return {
    start: last?.epochMilliseconds ?? -Infinity,
    end: next?.epochMilliseconds ?? Infinity,
    offset,
    offsetBefore: last === null ? offset : last.subtract({ milliseconds: 1 }).offsetNanoseconds / 1e6,
  }
}
