import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Licences that ask for nothing but that their text goes with the code. */
const allowed = new Set([
  ...['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD', 'BlueOak-1.0.0', 'Zlib', 'Unlicense'],
  'PSF-2.0',
])

/** Packages that no image and no package for users has. */
const forTestsAlone = new Map([['axe-core', 'MPL-2.0']])

interface LockedPackage {
  license?: string
  dev?: boolean
  devOptional?: boolean
  link?: boolean
}

/** Packages of package-lock.json which production needs and whose licence is none of those that are allowed, a line for each. */
export async function licenceFaults(root: string): Promise<string[]> {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>
  }
  return Object.entries(lock.packages).flatMap(([path, { license = 'none', dev, devOptional, link }]) => {
    const [, name] = /^(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path) ?? []
    const isLooked = name !== undefined && dev !== true && devOptional !== true && link !== true
    if (!isLooked || isAllowed(license) || forTestsAlone.get(name) === license) return []
    return [`${name} has the licence ${license}`]
  })
}

/** Whether code of this licence (SPDX) may be given on: of alternatives one is enough, of several together all. */
export function isAllowed(licence: string): boolean {
  const words = licence.replaceAll(/[()]/g, '')
  return words.split(' OR ').some((one) => one.split(' AND ').every((each) => allowed.has(each.trim())))
}
