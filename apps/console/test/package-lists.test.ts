import { expect, test } from 'vitest'
import { changesBetween, packagesIn } from '../src/rules/package-lists.ts'

test('packages are read as npm and pip users write them', () => {
  expect(
    packagesIn('lodash, lodash-es@^4.17\n@scope/name@1.2\n@scope/bare\nrequests>=2,\npandas==2.2.1\n# no'),
  ).toEqual({
    lodash: '*',
    'lodash-es': '^4.17',
    '@scope/name': '1.2',
    '@scope/bare': '*',
    requests: '>=2',
    pandas: '==2.2.1',
  })
})

test('two lists differ by what is added, removed and changed', () => {
  expect(changesBetween({ a: '1', b: '1', c: '1' }, { b: '2', c: '1', d: '1' })).toEqual([
    { name: 'a', kind: 'removed', from: '1' },
    { name: 'b', kind: 'changed', from: '1', to: '2' },
    { name: 'c', kind: 'same', from: '1', to: '1' },
    { name: 'd', kind: 'added', to: '1' },
  ])
})
