import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isDeeperThan, memberText } from '@automation/contract/json-text'
import { jsonText, parseJson, RawJson } from '../src/http/json.ts'

describe('JSON passes through without loss', () => {
  test.each([
    ['{"a":1.0}', 'a', '1.0'],
    ['{"a":12345678901234567890,"b":2}', 'a', '12345678901234567890'],
    ['{ "x" : {"a":1} , "a" : [1, {"a": "}"}] }', 'a', '[1, {"a": "}"}]'],
    ['{"a":1,"a":2}', 'a', '2'],
    [String.raw`{"\u0061":"\"}\\"}`, 'a', String.raw`"\"}\\"`],
    ['{"b":"a","c":{"a":3}}', 'a', undefined],
    ['{"__proto__":{"x":1}}', '__proto__', '{"x":1}'],
    [' [1] ', 'a', undefined],
    ['{}', 'a', undefined],
    ['{"a":true}', 'a', 'true'],
  ])('the member of %s', (text, name, expected) => {
    expect(memberText(text, name)).toBe(expected)
  })

  test('a member is found in any object as JSON.parse finds it', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.boolean(), (object, spaced) => {
        const text = JSON.stringify(object, null, spaced ? 2 : 0)
        for (const name of Object.keys(JSON.parse(text) as object)) {
          const member = memberText(text, name)
          expect(JSON.parse(member as string)).toEqual((JSON.parse(text) as Record<string, unknown>)[name])
        }
      }),
    )
  })

  test('raw texts stand unchanged inside a presented record', () => {
    const record = { a: new RawJson('{"n":1.0}'), list: [new RawJson('1e400'), 'x'], b: undefined }
    expect(jsonText(record)).toBe('{"a":{"n":1.0},"list":[1e400,"x"]}')
    expect(jsonText(new RawJson('-0.0'))).toBe('-0.0')
    expect(jsonText({ plain: '$&' })).toBe('{"plain":"$&"}')
  })
})

describe('JSON from outside can not hurt', () => {
  test.each([
    ['[[1]]', 2, false],
    ['[[[1]]]', 2, true],
    ['["[[[[", {"]":"{"}]', 2, false],
    ['"\\"[[["', 0, false],
    ['{"a":[{"b":1}]}', 2, true],
    ['"[[[', 0, false],
  ])('%s deeper than %i: %s', (text, levels, expected) => {
    expect(isDeeperThan(text, levels)).toBe(expected)
  })

  test('a text of a million levels is refused, not recursed into', () => {
    expect(() => parseJson('['.repeat(1_000_000))).toThrow(/nested deeper/)
  })

  test('what is no JSON is refused with the pointer of where it stands', () => {
    const message = 'is not valid JSON at line 1, column 6: the text ends where a value is expected'
    expect(() => parseJson('{"a":', '/parameters')).toThrow(
      expect.objectContaining({ code: 'invalid_json', fields: [{ path: '/parameters', message }] }),
    )
  })
  test.each([
    ['\n'.repeat(1000) + ' x', ' at line 1001, column 2: a value is expected'],
    ['[1,\n2\n  x', ' at line 3, column 3: "," or "]" is expected'],
    ['\n'.repeat(1024 * 1024) + 'x', ''],
    ['[' + '1,\n'.repeat(400_000) + 'x', ''],
    ['{"a":"' + '\\u0041'.repeat(200_000), ''],
    ['[' + 'true,'.repeat(300_000) + 'x', ''],
    ['[' + '-1.5e+20,'.repeat(150_000) + 'x', ''],
    ['x' + ' '.repeat(1024 * 1024), ' at line 1, column 1: a value is expected'],
  ])('the place is told within the first megabyte (%#)', (text, place) => {
    const message = `The request body is not valid JSON${place}`
    expect(() => parseJson(text)).toThrow(expect.objectContaining({ fields: [{ path: '', message }] }))
  })
})
