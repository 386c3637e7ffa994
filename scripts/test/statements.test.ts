import { readFileSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The names of prepared statements in files of these folders, each as often as it is given. */
async function namesIn(folder: string): Promise<string[]> {
  const names: string[] = []
  for await (const path of glob(`${folder}/src/**/*.ts`, { cwd: root }))
    for (const [, name = ''] of readFileSync(`${root}/${path}`, 'utf8').matchAll(/name: '([^']+)',\s*text:/g))
      names.push(name)
  return names
}

test.each(['execution', 'process-catalog', 'sandbox', 'scheduler', 'storage'])(
  'each prepared statement of %s has a name of its own, as a connection has one statement by a name',
  async (app) => {
    const names = [...(await namesIn(`apps/${app}`)), ...(await namesIn('libs/*'))]
    expect(names.length).toBeGreaterThan(3)
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  },
)
