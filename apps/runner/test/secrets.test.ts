import { afterAll, beforeAll, expect, test } from 'vitest'
import { startRunner, type RunnerUnderTest } from './runner-under-test.ts'
import { lines } from './scripted-replica.ts'

let under: RunnerUnderTest
beforeAll(async () => {
  under = await startRunner()
})
afterAll(() => under.stop())

test('sensitive values are masked in every form, others are not', async () => {
  const variables = [
    { key: 'TOKEN', value: 'p&ss"w/rd=', isSensitive: true },
    { key: 'KEY', value: '-----BEGIN-----\nMIIEvQIBADANBg\n-----END-----', isSensitive: true },
    { key: 'PIN', value: '123', isSensitive: true },
    { key: 'OPEN', value: 'visible', isSensitive: false },
  ]
  const source = `
    const { TOKEN, KEY, PIN, OPEN } = svc.env
    console.log(TOKEN, PIN, OPEN, encodeURIComponent(TOKEN), JSON.stringify({ TOKEN }))
    console.log(Buffer.from(TOKEN).toString('base64'), Buffer.from(TOKEN).toString('base64url'))
    process.stdout.write(KEY + '\\n')
    throw new Error('bad ' + TOKEN)`
  const ended = await under.replica.run(source, { spec: { variables } })
  const text = lines(ended.log).join('\n') + ended.explanation
  for (const secret of [
    'p&ss"w/rd=',
    'p%26ss',
    'p&ss\\"',
    'MIIEvQIBADANBg',
    Buffer.from('p&ss"w/rd=').toString('base64').slice(0, 12),
  ])
    expect(text).not.toContain(secret)
  expect(ended.explanation).toBe('Error: bad ******')
  expect(text).toContain('****** 123 visible')
})

test('sensitive values are masked in objects, too', async () => {
  const value = `a'b"c\\\\d\`e`
  const multiline = `first\\'"\`line of it\nsecond\\'"\`line of it`
  const variables = [
    { key: 'V', value, isSensitive: true },
    { key: 'M', value: multiline, isSensitive: true },
  ]
  const source = 'const { V: v, M: m } = svc.env; console.log({ v }, [v]); console.log({ m, n: [[m]] })'
  const text = lines((await under.replica.run(source, { spec: { variables } })).log).join('\n')
  expect(text).toContain("{ v: '******' } [ '******' ]")
  expect(text).not.toMatch(/b"c|line of it/)
})

test('a secret is masked across writes, chunks of the pipe and the cut of a long line', async () => {
  const secret = 'the quick/brown+fox & 12 more'
  const source = `
    const { SECRET: s } = svc.env
    process.stdout.write(s.slice(0, 9)); process.stdout.write(s.slice(9) + '\\n')
    process.stderr.write(s.slice(0, 2)); process.stderr.write(s.slice(2) + '\\n')
    const fs = require('fs')
    for (const c of 'split: ' + s + '\\n') { fs.writeSync(1, c); const t = performance.now(); while (performance.now() - t < 1); }
    for (let before = 65520; before < 65540; before += 3) console.log('x'.repeat(before) + s)
    for (let before = 131040; before < 131073; before += 5) console.log(s.repeat(3000).slice(0, before - before % 29) + s)
    fs.writeSync(1, 'y'.repeat(196600) + s + '\\n')`
  const variables = [{ key: 'SECRET', value: secret, isSensitive: true }]
  const log = lines((await under.replica.run(source, { spec: { variables } })).log)
  expect(
    log
      .filter((line) => line.length < 50)
      .slice(0, 3)
      .toSorted(),
  ).toEqual(['ERROR ******', 'INFO ******', 'INFO split: ******'])
  expect(log.filter((line) => /the q|fox|brown|quick/.test(line))).toEqual([])
})

test('a secret of several short lines is masked over entries in a row', async () => {
  const secret = 'one\ntwo\nthree\nfour'
  const variables = [{ key: 'SECRET', value: secret, isSensitive: true }]
  const source = `
    console.log('two'); process.stdout.write('it is ' + svc.env.SECRET + '\\n')
    console.log('three'); console.log(svc.env.SECRET); svc.env.SECRET.split('\\n').map((line) => console.log(line))`
  const log = lines((await under.replica.run(source, { spec: { variables } })).log)
  const stars = 'INFO ******'
  expect(log).toEqual(['INFO two', 'INFO it is ******', ...Array(3).fill(stars), 'INFO three', ...Array(5).fill(stars)])
})

test('a secret in an error that is too long is masked up to where that is cut', async () => {
  const secret = Array.from({ length: 9000 }, (_, at) => `${at}`).join('-')
  const variables = [{ key: 'SECRET', value: secret, isSensitive: true }]
  for (const source of [
    'throw new Error(svc.env.SECRET)',
    'throw new Error("x".repeat(16 * 1024 - 30) + svc.env.SECRET)',
    'throw svc.env.SECRET',
    'throw { secret: svc.env.SECRET }',
    'throw Object.assign(new Error("a"), { stack: svc.env.SECRET })',
    'throw Object.assign(new Error("a"), { name: svc.env.SECRET })',
    'throw new Error("a", { cause: new Error(svc.env.SECRET) })',
    'console.log({ secret: svc.env.SECRET }, [svc.env.SECRET]); throw new Error("a")',
  ]) {
    const ended = await under.replica.run(source, { spec: { variables } })
    expect(lines(ended.log).join('\n') + ended.explanation).not.toMatch(/0-1-2|3-4-5|x2-3/)
  }
})
