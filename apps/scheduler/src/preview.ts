import { ClockNote, type PreviewedTimeSchema } from '@automation/contract/schedule/v1/schedule'
import { invalid } from '@automation/errors'
import { readAll } from '@automation/errors/faults'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import type { Cron } from './cron/cron.ts'
import { isRepeated, localAt, nextDue, showsMeant } from './cron/next-due.ts'
import { checkedCron, checkGivenTime, comingTime, givenTime, hasOffset } from './given-times.ts'

/** A cron or a time that somebody may want a schedule for. */
export interface Preview {
  cron: string | undefined
  /** As the caller gives it. */
  dateTime: string | undefined
  /** IANA name. */
  zoneId: string
  /** 0 counts as 10. */
  count: number
}

type PreviewedTime = MessageInitShape<typeof PreviewedTimeSchema>

const usualCount = 10
const mostTimes = 100

/** The times after `now`, in milliseconds since 1970, at which a schedule would be due. Failures invalid_argument. */
export function previewTimes(
  { cron, dateTime, zoneId: given, count }: Preview,
  now: number,
): { zoneId: string; times: PreviewedTime[] } {
  const { zoneId } = readAll({
    time: () => checkGivenTime(cron, dateTime),
    count: () => checkCount(count),
    zoneId: () => checkedZone(given),
  })
  if (cron === undefined) return { zoneId, times: [oneTime(dateTime ?? '', zoneId, now)] }
  const parsed = checkedCron(cron)
  const times: number[] = []
  let at: number | undefined = comingTime({ cron }, zoneId, now)
  while (at !== undefined && times.length < (count || usualCount)) {
    times.push(at)
    at = nextDue(parsed, zoneId, at)
  }
  return { zoneId, times: times.map((time) => previewed(time, zoneId, noteOf(parsed, zoneId, time))) }
}

function oneTime(text: string, zone: string, now: number): PreviewedTime {
  const at = givenTime(text, zone)
  comingTime({ dateTime: at }, zone, now)
  if (isRepeated(zone, at)) return previewed(at, zone, ClockNote.REPEATED)
  // Read as a time of UTC it is what the clocks are meant to show.
  const isShown = hasOffset(text) || givenTime(text, 'UTC') === localAt(zone, at)
  return previewed(at, zone, isShown ? ClockNote.UNSPECIFIED : ClockNote.GAP)
}

function noteOf(cron: Cron, zone: string, at: number): ClockNote {
  if (!showsMeant(cron, zone, at)) return ClockNote.GAP
  return isRepeated(zone, at) ? ClockNote.REPEATED : ClockNote.UNSPECIFIED
}

function previewed(at: number, zone: string, note: ClockNote): PreviewedTime {
  const local = new Date(localAt(zone, at)).toISOString().replace(/(\.000)?Z$/, '')
  return { at: timestampFromMs(at), local, note }
}

function checkCount(count: number): void {
  if (count > mostTimes) throw invalid('/count', `must be at most ${mostTimes}`)
}

/** In the spelling of IANA, so that one zone has one name. Failure invalid_argument at `/zoneId`. */
function checkedZone(zone: string): string {
  try {
    // Offsets such as `+01:00` are no zones.
    if (/^[A-Za-z]/.test(zone)) return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone).timeZoneId
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  throw invalid('/zoneId', 'must be the IANA name of a time zone, such as Europe/Berlin')
}
