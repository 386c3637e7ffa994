import { expect, test } from 'vitest'
import { CronError, parseCron } from '../src/cron/cron.ts'

test.each([
  ['', 'five fields'],
  ['* * * *', 'five fields'],
  ['* * * * * * *', 'five fields'],
  ['60 * * * *', 'minute'],
  ['* 24 * * *', 'hour'],
  ['* * 0 * *', 'day of the month'],
  ['* * 32 * *', 'day of the month'],
  ['* * * 13 *', 'month'],
  ['* * * 0 *', 'month'],
  ['* * * * 8', 'day of the week'],
  ['* * * * MONDAY', 'day of the week'],
  ['* * * MON *', 'month'],
  ['60 * * * * *', 'second'],
  ['1-0 * * * *', 'ends before it begins'],
  ['* * * * SAT-MON', 'ends before it begins'],
  ['* * * * 7-SAT', 'ends before it begins'],
  ['*/0 * * * *', 'step'],
  ['*/60 * * * *', 'step'],
  ['1/2/3 * * * *', 'minute'],
  ['1-2-3 * * * *', 'minute'],
  ['1,,2 * * * *', 'minute'],
  [', * * * *', 'minute'],
  ['-1 * * * *', 'minute'],
  ['1.5 * * * *', 'minute'],
  ['0x1 * * * *', 'minute'],
  ['L * * * *', 'minute'],
  ['* * L-31 * *', 'day of the month'],
  ['* * 15W * *', 'day of the month'],
  ['* * * * 5#2', 'day of the week'],
  ['* * * * 8L', 'day of the week'],
  ['@daily', 'five fields'],
  [`${'1,'.repeat(200)}1 * * * *`, 'longer than'],
])('%j is no cron, and why is told', (text, why) => {
  expect(() => parseCron(text)).toThrow(CronError)
  expect(() => parseCron(text)).toThrow(why)
})
