import { execFileSync } from 'node:child_process'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { buildImage, saveImages, type Built } from './images/build.ts'
import { targets } from './images/targets.ts'

const help = `npm run images [-- OPTIONS] [TARGET …]

Builds the images of the Dockerfile, all of them or those that are named, and says how large they are.

  --tag TAG     the commit's short hash when absent
  --save FILE   also writes them into one archive
  --help

IMAGE_BUILDER names the program that builds (docker), called as docker is.
`

const { values, positionals } = parseArgs({
  options: { tag: { type: 'string' }, save: { type: 'string' }, help: { type: 'boolean' } },
  allowPositionals: true,
})

if (values.help) process.stdout.write(help)
else await images()

async function images(): Promise<void> {
  const save = values.save === undefined ? undefined : resolve(values.save)
  process.chdir(resolve(dirname(fileURLToPath(import.meta.url)), '..'))
  const builder = process.env['IMAGE_BUILDER'] || 'docker'
  const unknown = positionals.filter((name) => !targets.some((target) => target === name))
  if (unknown.length > 0) throw new Error(`no image ${unknown.join(', ')}; there are ${targets.join(', ')}`)
  const tag = values.tag ?? execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  const built: Built[] = []
  // One after the other: what they share is built once.
  for (const target of positionals.length > 0 ? positionals : targets) {
    built.push(await buildImage(builder, target, tag))
    const { name, seconds, megabytes } = built.at(-1)!
    console.log(`${name.padEnd(48)} ${megabytes?.toFixed(0).padStart(5) ?? '    ?'} MB  ${seconds.toFixed(0)} s`)
  }
  if (save !== undefined) {
    const names = built.map(({ name }) => name)
    await saveImages(builder, names, save)
    console.log(`saved in ${save}`)
  }
}
