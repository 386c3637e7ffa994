import { readFileSync } from 'node:fs'
import { littleRegistry, type LittlePackage } from './little-registry.ts'

/*
 * A little registry for tests that import nothing of ours: packages by kind as JSON on stdin, the settings that lead to
 * it as a line of JSON on stdout. It goes on until it is ended.
 */
const { npm, pypi } = JSON.parse(readFileSync(0, 'utf8')) as Record<'npm' | 'pypi', Record<string, LittlePackage>>
const { settings } = await littleRegistry(npm, pypi)
process.stdout.write(`${JSON.stringify(settings)}\n`)
