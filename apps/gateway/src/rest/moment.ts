const MOMENT =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9})\d*)?)?)?(?:([Zz])|([+\- ])(\d\d):?(\d\d))?$/

export interface Moment {
  seconds: bigint
  nanos: number
}

/**
 * An RFC 3339 time; without an offset it is read as UTC, without a time of day as midnight. A space stands for the `+`
 * that it was before the query was decoded. Undefined when it is none.
 */
export function parseMoment(text: string): Moment | undefined {
  const match = MOMENT.exec(text)
  if (match === null) return undefined
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', , sign, offsetHour, offsetMinute] =
    match
  const wall = [year, month, day, hour, minute, second].map(Number) as [number, number, number, number, number, number]
  const utc = new Date(0)
  utc.setUTCFullYear(wall[0], wall[1] - 1, wall[2])
  // A leap second is the first of the next minute.
  utc.setUTCHours(wall[3], wall[4], Math.min(wall[5], 59))
  const isReal =
    utc.getUTCMonth() === wall[1] - 1 && utc.getUTCDate() === wall[2] && wall[3] < 24 && wall[4] < 60 && wall[5] <= 60
  if (!isReal || Number(offsetHour ?? 0) > 23 || Number(offsetMinute ?? 0) > 59) return undefined
  const offset = (Number(offsetHour ?? 0) * 60 + Number(offsetMinute ?? 0)) * (sign === '-' ? -60 : 60)
  const leap = wall[5] === 60 ? 1 : 0
  return { seconds: BigInt(utc.getTime() / 1000 + leap - offset), nanos: Number(fraction.padEnd(9, '0')) }
}
