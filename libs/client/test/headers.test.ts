import { expect, test } from 'vitest'
import { Client } from '@automation/client'

test('headers take names of any script: what is no Latin-1 goes as UTF-8, which the service reads', async () => {
  const sent: Headers[] = []
  const fetch = (_: unknown, init: RequestInit = {}) => {
    sent.push(new Headers(init.headers))
    return Promise.resolve(Response.json({ executionId: 'x' }))
  }
  const headers = { 'X-From': '東京' }
  const pas = new Client({ url: 'http://pas.test', team: 'demo', token: 'eyJh.eyJl.c2ln', fetch, headers })
  await pas.processes.run('x', {}, { initiatedBy: 'Łukasz' })
  await pas.webhooks.call('x', { comment: '“later”', headers: { 'X-Author': 'Jürgen' } })
  const read = (name: string) =>
    sent.map((each) => each.get(name)).map((value) => value && Buffer.from(value, 'latin1').toString())
  expect(read('X-From')).toEqual(['東京', '東京'])
  expect(read('Svc-Initiated-By')).toEqual(['Łukasz', null])
  expect(read('Svc-Comment')).toEqual([null, '“later”'])
  expect(sent[1]!.get('X-Author')).toBe('Jürgen')
})
