import { expect, test } from 'vitest'
import { platformName } from '../src/dependencies/platform.ts'

const linux = { platform: 'linux', architecture: 'x64', glibcVersion: '2.36' }

test.each([
  [linux, 'linux-x64-glibc2.36'],
  [{ ...linux, glibcVersion: '2.39' }, 'linux-x64-glibc2.39'],
  [{ ...linux, glibcVersion: undefined }, 'linux-x64-musl'],
  [{ ...linux, architecture: 'arm64' }, 'linux-arm64-glibc2.36'],
  [{ platform: 'darwin', architecture: 'arm64', glibcVersion: undefined }, 'darwin-arm64'],
])('machines that can not use the same builds have names of their own: %j', (machine, name) => {
  expect(platformName(machine)).toBe(name)
})
