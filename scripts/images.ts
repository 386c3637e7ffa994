import { execFileSync } from 'node:child_process'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readArguments } from './arguments.ts'
import { buildImage, saveImages, sizeOf } from './images/build.ts'
import { targets } from './images/targets.ts'

const help = `npm run images [-- OPTIONS] [TARGET …]

Builds the images of the Dockerfile, all of them or those that are named.

  --tag TAG     the commit's short hash when absent
  --sizes       also says how large they are; a builder other than docker compresses each for that
  --save FILE   also writes them into one archive
  --help

IMAGE_BUILDER names the program that builds (docker), called as docker is.
`

const { values, words: named } = readArguments(
  help,
  { tag: { type: 'string' }, sizes: { type: 'boolean' }, save: { type: 'string' } },
  { words: true },
)

await images()

async function images(): Promise<void> {
  const save = values.save === undefined ? undefined : resolve(values.save)
  process.chdir(resolve(dirname(fileURLToPath(import.meta.url)), '..'))
  const builder = process.env['IMAGE_BUILDER'] || 'docker'
  const unknown = named.filter((name) => !targets.some((target) => target === name))
  if (unknown.length > 0) throw new Error(`no image ${unknown.join(', ')}; there are ${targets.join(', ')}`)
  const tag = values.tag ?? execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  const names: string[] = []
  // One after the other: what they share is built once.
  for (const target of named.length > 0 ? named : targets) {
    const { name, seconds } = await buildImage(builder, target, tag)
    names.push(name)
    const size = values.sizes ? `${(await sizeOf(builder, name))?.toFixed(0).padStart(5) ?? '    ?'} MB` : ''
    console.log(`${name.padEnd(48)} ${size}  ${seconds.toFixed(0)} s`)
  }
  if (save !== undefined) {
    await saveImages(builder, names, save)
    console.log(`saved in ${save}`)
  }
}
