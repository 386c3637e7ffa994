import { expect, test } from 'vitest'
import { parseCron } from '../src/cron/cron.ts'
import { lastDue, nextDue } from '../src/cron/next-due.ts'

/** The first instants at which a cron is due after an instant, as UTC to the second. */
function dueTimes(cron: string, zone: string, after: string, count: number): string[] {
  const times: string[] = []
  for (let time = Date.parse(after); times.length < count;) {
    const next = nextDue(parseCron(cron), zone, time)
    if (next === undefined) break
    times.push(new Date(next).toISOString().replace('.000Z', 'Z'))
    time = next
  }
  return times
}

const berlinForward = '2026-03-28T12:00:00Z' // 02:00 CET becomes 03:00 CEST on the 29th, at 01:00Z
const berlinBack = '2026-10-24T12:00:00Z' // 03:00 CEST becomes 02:00 CET on the 25th, at 01:00Z

test.each<[what: string, cron: string, zone: string, after: string, due: string[]]>([
  ['a plain day', '30 9 * * *', 'UTC', '2026-01-01T09:29:59Z', ['2026-01-01T09:30:00Z', '2026-01-02T09:30:00Z']],
  ['never the instant itself', '30 9 * * *', 'UTC', '2026-01-01T09:30:00Z', ['2026-01-02T09:30:00Z']],
  [
    'six fields',
    '*/20 0 0 * * *',
    'UTC',
    '2026-01-01T00:00:10Z',
    ['2026-01-01T00:00:20Z', '2026-01-01T00:00:40Z', '2026-01-02T00:00:00Z'],
  ],
  ['five fields are due at second 0', '* * * * *', 'UTC', '2026-01-01T00:00:00.500Z', ['2026-01-01T00:01:00Z']],
  ['names', '0 0 * FEB,nov SUN', 'UTC', '2026-02-22T00:00:00Z', ['2026-11-01T00:00:00Z', '2026-11-08T00:00:00Z']],
  ['7 is Sunday', '0 0 * * 7', 'UTC', '2026-01-01T00:00:00Z', ['2026-01-04T00:00:00Z', '2026-01-11T00:00:00Z']],
  [
    'a range to Sunday',
    '0 0 * * FRI-7',
    'UTC',
    '2026-01-01T00:00:00Z',
    ['2026-01-02T00:00:00Z', '2026-01-03T00:00:00Z', '2026-01-04T00:00:00Z', '2026-01-09T00:00:00Z'],
  ],
  ...['SAT-SUN', '6-0', 'SAT,SUN-SUN'].map((weekend): [string, string, string, string, string[]] => [
    `a range to Sunday, ${weekend}`,
    `0 0 * * ${weekend}`,
    'UTC',
    '2026-01-01T00:00:00Z',
    ['2026-01-03T00:00:00Z', '2026-01-04T00:00:00Z', '2026-01-10T00:00:00Z'],
  ]),
  [
    'a range from Sunday',
    '0 0 * * SUN-MON',
    'UTC',
    '2026-01-01T00:00:00Z',
    ['2026-01-04T00:00:00Z', '2026-01-05T00:00:00Z', '2026-01-11T00:00:00Z'],
  ],
  [
    'a step over a range to Sunday',
    '0 0 * * MON-SUN/2',
    'UTC',
    '2026-01-01T00:00:00Z',
    ['2026-01-02T00:00:00Z', '2026-01-04T00:00:00Z', '2026-01-05T00:00:00Z', '2026-01-07T00:00:00Z'],
  ],
  [
    'a step over a range',
    '0 8-18/5 * * *',
    'UTC',
    '2026-01-01T00:00:00Z',
    ['2026-01-01T08:00:00Z', '2026-01-01T13:00:00Z', '2026-01-01T18:00:00Z', '2026-01-02T08:00:00Z'],
  ],
  [
    'a step from a number',
    '50/5 7 * * *',
    'UTC',
    '2026-01-01T00:00:00Z',
    ['2026-01-01T07:50:00Z', '2026-01-01T07:55:00Z', '2026-01-02T07:50:00Z'],
  ],
  [
    'day of the month or of the week: either',
    '0 0 13 * FRI',
    'UTC',
    '2026-11-10T00:00:00Z',
    [
      '2026-11-13T00:00:00Z',
      '2026-11-20T00:00:00Z',
      '2026-11-27T00:00:00Z',
      '2026-12-04T00:00:00Z',
      '2026-12-11T00:00:00Z',
      '2026-12-13T00:00:00Z',
    ],
  ],
  [
    '? stands for any day',
    '0 0 ? * MON',
    'UTC',
    '2026-11-20T00:00:00Z',
    ['2026-11-23T00:00:00Z', '2026-11-30T00:00:00Z'],
  ],
  [
    'the last day of the month',
    '0 0 L * *',
    'UTC',
    '2028-01-31T00:00:00Z',
    ['2028-02-29T00:00:00Z', '2028-03-31T00:00:00Z', '2028-04-30T00:00:00Z'],
  ],
  [
    'two days before the last',
    '0 0 L-2 * *',
    'UTC',
    '2027-01-31T00:00:00Z',
    ['2027-02-26T00:00:00Z', '2027-03-29T00:00:00Z'],
  ],
  ['the last Friday', '0 0 * * 5L', 'UTC', '2026-11-01T00:00:00Z', ['2026-11-27T00:00:00Z', '2026-12-25T00:00:00Z']],
  [
    'L as a weekday is Saturday',
    '0 0 * * L',
    'UTC',
    '2026-11-20T00:00:00Z',
    ['2026-11-21T00:00:00Z', '2026-11-28T00:00:00Z'],
  ],
  ['29 February', '0 0 29 2 *', 'UTC', '2026-01-01T00:00:00Z', ['2028-02-29T00:00:00Z', '2032-02-29T00:00:00Z']],
  ['29 February across a century without one', '0 0 29 2 *', 'UTC', '2096-03-01T00:00:00Z', ['2104-02-29T00:00:00Z']],
  ['the 31st', '0 0 31 * *', 'UTC', '2026-01-31T00:00:00Z', ['2026-03-31T00:00:00Z', '2026-05-31T00:00:00Z']],
  ['a day that never comes', '0 0 31 4 *', 'UTC', '2026-01-01T00:00:00Z', []],

  [
    'left out, fixed hour: when the clocks go on',
    '30 2 * * *',
    'Europe/Berlin',
    berlinForward,
    ['2026-03-29T01:00:00Z', '2026-03-30T00:30:00Z'],
  ],
  [
    'left out, two times: once',
    '15,45 2 * * *',
    'Europe/Berlin',
    berlinForward,
    ['2026-03-29T01:00:00Z', '2026-03-30T00:15:00Z'],
  ],
  [
    'left out, any minute of a fixed hour: once',
    '*/30 2 * * *',
    'Europe/Berlin',
    berlinForward,
    ['2026-03-29T01:00:00Z', '2026-03-30T00:00:00Z'],
  ],
  [
    'left out, and the hour after it: once',
    '0 2,3 * * *',
    'Europe/Berlin',
    berlinForward,
    ['2026-03-29T01:00:00Z', '2026-03-30T00:00:00Z', '2026-03-30T01:00:00Z'],
  ],
  [
    'left out, every hour: real hours alone',
    '30 * * * *',
    'Europe/Berlin',
    '2026-03-29T00:00:00Z',
    ['2026-03-29T00:30:00Z', '2026-03-29T01:30:00Z', '2026-03-29T02:30:00Z'],
  ],
  [
    'left out, every second hour: it is not there',
    '0 */2 * * *',
    'Europe/Berlin',
    '2026-03-28T22:30:00Z',
    ['2026-03-28T23:00:00Z', '2026-03-29T02:00:00Z', '2026-03-29T04:00:00Z'],
  ],
  [
    'shown twice, fixed hour: the first time',
    '30 2 * * *',
    'Europe/Berlin',
    berlinBack,
    ['2026-10-25T00:30:00Z', '2026-10-26T01:30:00Z'],
  ],
  ['shown twice, asked in between', '30 2 * * *', 'Europe/Berlin', '2026-10-25T00:45:00Z', ['2026-10-26T01:30:00Z']],
  [
    'shown twice, any minute of a fixed hour',
    '*/30 2 * * *',
    'Europe/Berlin',
    berlinBack,
    ['2026-10-25T00:00:00Z', '2026-10-25T00:30:00Z', '2026-10-26T01:00:00Z'],
  ],
  [
    'shown twice, every hour: both',
    '30 * * * *',
    'Europe/Berlin',
    '2026-10-25T00:00:00Z',
    ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z', '2026-10-25T02:30:00Z'],
  ],
  [
    'shown twice, every hour by ?: both',
    '30 ? * * *',
    'Europe/Berlin',
    '2026-10-25T00:00:00Z',
    ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z', '2026-10-25T02:30:00Z'],
  ],
  [
    'shown twice, every second hour: both',
    '0 */2 * * *',
    'Europe/Berlin',
    '2026-10-24T23:00:00Z',
    ['2026-10-25T00:00:00Z', '2026-10-25T01:00:00Z', '2026-10-25T03:00:00Z'],
  ],
  [
    'midnight is left out',
    '0 0 * * *',
    'America/Santiago',
    '2026-09-05T12:00:00Z',
    ['2026-09-06T04:00:00Z', '2026-09-07T03:00:00Z'],
  ],
  [
    'midnight is left out, in Cairo',
    '30 0 * * *',
    'Africa/Cairo',
    '2026-04-23T12:00:00Z',
    ['2026-04-23T22:00:00Z', '2026-04-24T21:30:00Z'],
  ],
  [
    'half an hour is left out',
    '15 2 * * *',
    'Australia/Lord_Howe',
    '2026-10-03T00:00:00Z',
    ['2026-10-03T15:30:00Z', '2026-10-04T15:15:00Z'],
  ],
  [
    'half an hour is shown twice',
    '45 1 * * *',
    'Australia/Lord_Howe',
    '2026-04-04T00:00:00Z',
    ['2026-04-04T14:45:00Z', '2026-04-05T15:15:00Z'],
  ],
  [
    'half an hour is shown twice, every hour',
    '45 * * * *',
    'Australia/Lord_Howe',
    '2026-04-04T14:30:00Z',
    ['2026-04-04T14:45:00Z', '2026-04-04T15:15:00Z', '2026-04-04T16:15:00Z'],
  ],
  ['a zone 45 minutes off', '0 6 * * *', 'Asia/Kathmandu', '2026-01-01T00:00:00Z', ['2026-01-01T00:15:00Z']],
  [
    'a day that a zone left out',
    '0 9 * * *',
    'Pacific/Apia',
    '2011-12-29T12:00:00Z',
    ['2011-12-29T19:00:00Z', '2011-12-30T10:00:00Z', '2011-12-30T19:00:00Z'],
  ],
  ['a fixed offset', '0 6 * * *', 'Etc/GMT-14', '2026-01-01T00:00:00Z', ['2026-01-01T16:00:00Z']],
  [
    'winter time in summer',
    '30 1 * * *',
    'Europe/Dublin',
    '2026-03-28T12:00:00Z',
    ['2026-03-29T01:00:00Z', '2026-03-30T00:30:00Z'],
  ],
  ['the year ends in a zone', '0 0 1 1 *', 'Pacific/Kiritimati', '2026-06-01T00:00:00Z', ['2026-12-31T10:00:00Z']],
])('%s', (_what, cron, zone, after, due) => {
  expect(dueTimes(cron, zone, after, Math.max(due.length, 1))).toEqual(due)
})

test('of the times that were missed the last one counts, for an hour', () => {
  const [from, hour] = [Date.parse('2026-01-01T00:00:00Z'), 3_600_000]
  const last = (cron: string, now: number) => lastDue(parseCron(cron), 'UTC', from, from + now)
  expect(last('* * * * *', 0)).toBe(from)
  expect(last('* * * * *', 90_000)).toBe(from + 60_000)
  expect(last('* * * * * *', 400 * 24 * hour)).toBe(from + 400 * 24 * hour)
  expect(last('0 0 * * *', hour - 1)).toBe(from)
  expect(last('0 0 * * *', hour)).toBeUndefined()
  expect(last('0 0 * * *', 24 * hour + 5)).toBe(from + 24 * hour)
})

const zone = 'Europe/Berlin'

test.for(['* * * * * *', '7/11 * * * * *', '*/3 2-4 * * *', '30 2 * * *', '0 0 29 2 *'])(
  'the last time of %s is that which going from one to the next comes to, also where clocks change',
  (text) => {
    const cron = parseCron(text)
    for (const day of ['2026-03-29', '2026-10-25', '2028-02-29'])
      for (let minute = 0; minute < 300; minute += 17) {
        const now = Date.parse(`${day}T00:00:00Z`) + minute * 60_000 + 1234
        let stepped: number | undefined
        for (let due = nextDue(cron, zone, now - 3_600_000); due !== undefined && due <= now;) {
          stepped = due
          due = nextDue(cron, zone, due)
        }
        expect(lastDue(cron, zone, now - 7_200_000, now), `${day} ${minute}`).toBe(stepped)
      }
  },
)
