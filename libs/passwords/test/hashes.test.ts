import bcrypt from 'bcryptjs'
import { describe, expect, test } from 'vitest'
import { matches } from '@automation/passwords/hashes'

// Made by htpasswd and openssl passwd.
const hashes: [string, string, string][] = [
  ['apr1', 'myPassword', '$apr1$r31.....$HqJZimcKQFAMYayBlzkrA/'],
  ['MD5 crypt', 'password', '$1$5pZSV9va$azfrPr6af3Fc7dLblQXVa0'],
  ['SHA-1', 'myPassword', '{SHA}VBPuJHI7uixaa6LQGWx4s+5GKNE='],
  ['bcrypt $2y$', 'myPassword', '$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC'],
]

describe.each(hashes)('a hash in the form %s', (_form, password, hash) => {
  test('is matched by its password alone', () => {
    expect(matches(password, hash)).toBe(true)
    for (const other of ['', 'x', `${password}x`, password.slice(1), 'password1'])
      expect(matches(other, hash)).toBe(false)
  })
})

test('every name of bcrypt is understood', () => {
  const hash = bcrypt.hashSync('secret', 4)
  for (const name of ['a', 'b', 'x', 'y']) expect(matches('secret', hash.replace(/^\$2./, `$2${name}`))).toBe(true)
})

test.each(['', 'secret', '$1$', '$apr1$salt$short', '{SHA}', '$5$salt$abc'])('%j is matched by nothing', (hash) => {
  expect(matches('secret', hash)).toBe(false)
  expect(matches('', hash)).toBe(false)
})
