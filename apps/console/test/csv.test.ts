import { expect, test } from 'vitest'
import { csvOf } from '../src/rules/csv.ts'

test('CSV keeps quotes, commas and lines, and a formula stays a text', () => {
  expect(
    csvOf(
      ['name', 'runs'],
      [
        ['a "b", c', 3],
        ['=cmd()', undefined],
      ],
    ),
  ).toBe('name,runs\r\n"a ""b"", c",3\r\n\'=cmd(),\r\n')
})
