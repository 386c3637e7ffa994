import { describe, expect, test } from 'vitest'
import { chooseTarget, type TargetSources } from '../src/context/choose-target.ts'

const stored = {
  current: 'home',
  contexts: {
    home: { url: 'https://home.example', team: 'mine' },
    work: { url: 'https://work.example', team: 'ours' },
  },
}
const contexts = {
  prod: { url: 'https://prod.example', team: 'shop' },
  staging: { url: 'https://staging.example', team: 'shop' },
}
const project = { folder: '/shop', file: { layout: 1, contexts } }
const choose = (sources: Partial<TargetSources>) =>
  chooseTarget({ flags: {}, env: {}, stored: { contexts: {} }, ...sources })

describe('the target of a command', () => {
  test('comes from flags, then PAS_*, then pas.yaml, then the current context', () => {
    const all = {
      flags: { url: 'https://flag.example', team: 'flagged' },
      env: { PAS_URL: 'https://env.example', PAS_TEAM: 'envy' },
    }
    expect(choose({ ...all, project, stored })).toEqual({ url: 'https://flag.example', team: 'flagged' })
    expect(choose({ env: all.env, project, stored })).toEqual({ url: 'https://env.example', team: 'envy' })
    expect(choose({ project: { ...project, file: { layout: 1, contexts: { prod: contexts.prod } } }, stored })).toEqual(
      {
        ...contexts.prod,
        context: 'prod',
      },
    )
    expect(choose({ stored })).toEqual({ ...stored.contexts.home, context: 'home' })
  })

  test('of a project with several contexts is named by --context, PAS_CONTEXT or the current one, else asked for', () => {
    expect(choose({ project, flags: { context: 'staging' } })).toEqual({ ...contexts.staging, context: 'staging' })
    expect(choose({ project, env: { PAS_CONTEXT: 'prod' } })).toEqual({ ...contexts.prod, context: 'prod' })
    expect(choose({ project, stored: { current: 'prod', contexts: {} } })).toEqual({
      ...contexts.prod,
      context: 'prod',
    })
    expect(() => choose({ project, stored })).toThrow('prod, staging: choose one by --context')
    expect(() => choose({ project, stored, flags: { context: 'nowhere' } })).toThrow(
      'There are: prod, staging, home, work',
    )
  })

  test('is that of --context also where PAS_* name another; --url and --team alone come before it', () => {
    const env = { PAS_URL: 'https://env.example', PAS_TEAM: 'envy', PAS_CONTEXT: 'prod' }
    const flags = { context: 'staging' }
    const isTokenForOther = true
    expect(choose({ project, env, flags })).toEqual({ ...contexts.staging, context: 'staging', isTokenForOther })
    const other = { url: contexts.staging.url, team: 'other', isTokenForOther }
    expect(choose({ project, env, flags: { ...flags, team: 'other' } })).toEqual(other)
    expect(choose({ project, env })).toEqual({ url: 'https://env.example', team: 'envy' })
  })

  test('takes the address of a context with the team of a flag, and empty variables for none', () => {
    const empty = { PAS_URL: '', PAS_TEAM: '', PAS_CONTEXT: '' }
    expect(choose({ stored, env: empty, flags: { team: 'other' } })).toEqual({
      url: 'https://home.example',
      team: 'other',
    })
    expect(() => choose({})).toThrow('Sign in by "pas login URL --team TEAM"')
  })

  test.each([
    ['automation.example.com', 'https://automation.example.com'],
    ['localhost:8080', 'http://localhost:8080'],
    ['https://example.com/pas/', 'https://example.com/pas'],
  ])('the address %s is %s', (given, url) => expect(choose({ flags: { url: given, team: 't' } }).url).toBe(url))
})
