import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isAllowed, licenceFaults } from '../check/licences.ts'
import { licencesOf } from '../pack/licences.ts'

const folder = () => mkdtempSync(join(tmpdir(), 'licences-'))

test('a package that production needs is refused where its licence may not be given on, one for development is not', async () => {
  const root = folder()
  const packages = {
    '': { license: 'none' },
    'libs/one': { license: 'none' },
    'node_modules/fine': { license: 'MIT' },
    'node_modules/several': { license: '(Apache-2.0 AND BSD-3-Clause)' },
    'node_modules/either': { license: '(GPL-3.0 OR MIT)' },
    'node_modules/@scope/copyleft': { license: 'GPL-3.0' },
    'node_modules/fine/node_modules/unknown': {},
    'node_modules/development': { license: 'GPL-3.0', dev: true },
    'node_modules/ours': { link: true },
  }
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages }))
  expect(await licenceFaults(root)).toEqual(['@scope/copyleft has the licence GPL-3.0', 'unknown has the licence none'])
  expect(isAllowed('(MIT AND GPL-3.0)')).toBe(false)
})

test('what is bundled goes with its licence and the texts of it, and is refused where it may not be', async () => {
  const root = folder()
  const put = (name: string, license: string, files: Record<string, string>) => {
    const at = join(root, 'node_modules', name)
    mkdirSync(at, { recursive: true })
    writeFileSync(join(at, 'package.json'), JSON.stringify({ name, version: '1.2.3', license }))
    for (const [file, text] of Object.entries(files)) writeFileSync(join(at, file), text)
    return join(at, 'index.js')
  }
  const one = put('@scope/one', 'MIT', { LICENSE: 'The text of one', NOTICE: 'A notice' })
  const two = put('two', 'ISC', { 'license.md': 'The text of two' })
  const text = await licencesOf([two, one, join(root, 'src/ours.ts'), '\0rolldown/runtime.js'])
  expect(text).toMatch(
    /@scope\/one 1\.2\.3\nLicence: MIT\n\nThe text of one\n\nA notice\n\n-+\n\ntwo 1\.2\.3\nLicence: ISC/,
  )
  expect(await licencesOf([join(root, 'src/ours.ts')])).toBeUndefined()
  await expect(licencesOf([put('three', 'AGPL-3.0', {})])).rejects.toThrow('may not be bundled: three (AGPL-3.0)')
})
