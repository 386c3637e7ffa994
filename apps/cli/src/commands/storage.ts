import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, join, posix, relative, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Client } from '@automation/client'
import type { Command } from 'commander'
import { doEach } from '../do-each.ts'
import { duration } from '../options/duration.ts'
import { examples } from '../output/examples.ts'
import { blobOf, placeHere, saveFile, streamOf } from '../output/local-file.ts'
import { requireYes, usageError, type Runtime } from '../runtime.ts'

interface Entry {
  name?: string
  prefix?: string
  size?: number
  updatedAt?: string
}

/** `pas storage`. */
export function register(program: Command, runtime: Runtime): void {
  const { out } = runtime
  const storage = program
    .command('storage')
    .description('The files of the team. A name with "team:" before it is one of them.')
  examples(storage, 'pas storage ls reports/', 'pas storage cp report.csv team:reports/2026.csv')

  examples(
    storage
      .command('ls')
      .argument('[prefix]', 'with names that begin so', '')
      .description('List files and folders.')
      .option('-r, --recursive', 'with what is in folders')
      .action(list),
    'pas storage ls',
    'pas storage ls reports/ --recursive --json',
  )
  examples(
    storage
      .command('cp')
      .argument('<src>', 'a file here, or team:NAME; - is stdin')
      .argument('<dst>', 'team:NAME, or a file here; - is stdout')
      .description(
        'Copy files to the team or from it. A file is there when all of it is; large ones go on after a cut.',
      )
      .option('-r, --recursive', 'a folder with all that is in it')
      .action(copy),
    'pas storage cp report.csv team:reports/2026.csv',
    'pas storage cp team:reports/2026.csv .',
    'pas storage cp -r ./site team:site',
    'tar c data | pas storage cp - team:backups/data.tar',
  )
  examples(
    storage
      .command('cat')
      .argument('<name>')
      .description('Print a file.')
      .action((name: string) => download(ofTeam(name) ?? name, '-')),
    'pas storage cat reports/2026.csv | head',
  )
  examples(
    storage.command('rm').argument('<name...>').description('Delete files.').action(remove),
    'pas storage rm reports/2026.csv --yes',
  )
  examples(
    storage
      .command('sign')
      .argument('<name>')
      .description('Print a link by which anybody may download a file for some time.')
      .option('--expires <duration>', 'for how long', duration, 3_600_000)
      .action(sign),
    'pas storage sign reports/2026.csv --expires 10m',
  )

  async function list(prefix: string, { recursive }: { recursive?: boolean }): Promise<void> {
    const client = await runtime.client()
    const entries: Entry[] = await client.storage.list({
      prefix: ofTeam(prefix) ?? prefix,
      ...(!recursive && { delimiter: '/' }),
    })
    out.data(entries, {
      table: [
        { title: 'size', of: ({ size }) => size },
        { title: 'updated', of: ({ updatedAt }) => updatedAt },
        { title: 'name', of: ({ name, prefix: folder }) => name ?? folder },
      ],
      empty: 'There are no such files.',
    })
  }

  async function copy(src: string, dst: string, { recursive }: { recursive?: boolean }): Promise<void> {
    const [from, to] = [ofTeam(src), ofTeam(dst)]
    if ((from === undefined) === (to === undefined))
      throw usageError(
        'One of the two is a file of the team: pas storage cp FILE team:NAME, or pas storage cp team:NAME FILE',
      )
    const client = await runtime.client()
    const pairs = recursive
      ? await (to === undefined ? foldersDown(client, from!, dst) : foldersUp(runtime, src, to))
      : [to === undefined ? ([from!, await placeHere(from!, dst)] as const) : ([src, placeThere(src, to)] as const)]
    for (const [one, other] of pairs) await (to === undefined ? download(one, other) : upload(client, one, other))
    if (out.json) out.data(pairs.map(([one, other]) => ({ from: one, to: other })))
    else if (dst !== '-' && recursive) out.say(`${pairs.length} files copied.`)
  }

  async function upload(client: Client, file: string, name: string): Promise<void> {
    if (file === '-') return client.storage.upload(name, runtime.stdin as AsyncIterable<Buffer>)
    await client.storage.upload(name, await blobOf(file))
  }

  async function download(name: string, file: string): Promise<void> {
    const { body } = await (await runtime.client()).storage.download(name)
    await (file === '-' ? pipeline(streamOf(body), runtime.stdout, { end: false }) : saveFile(body, file))
  }

  async function remove(names: string[]): Promise<void> {
    const all = names.map((name) => ofTeam(name) ?? name)
    await requireYes(runtime, `Delete ${all.join(', ')} for good?`, 'Nothing was deleted.')
    const client = await runtime.client()
    await doEach(runtime, all, {
      nameOf: (name) => name,
      work: (name) => client.storage.delete(name),
      rowOf: (name, deleted) => ({ name, deleted }),
      wordsOf: (deleted) => `Deleted: ${deleted.join(', ')}`,
    })
  }

  async function sign(name: string, { expires }: { expires: number }): Promise<void> {
    const client = await runtime.client()
    const signed = await client.storage.sign({
      path: ofTeam(name) ?? name,
      expiresInSeconds: Math.ceil(expires / 1000),
    })
    out.data(signed, { text: signed.url })
  }
}

/** The name behind `team:`; undefined for anything else. */
function ofTeam(word: string): string | undefined {
  return word.startsWith('team:') ? word.slice('team:'.length) : undefined
}

function placeThere(file: string, name: string): string {
  if (name !== '' && !name.endsWith('/')) return name
  if (file === '-') throw usageError('What comes from stdin needs a name: pas storage cp - team:NAME')
  return `${name}${basename(file)}`
}

async function foldersUp({ out }: Runtime, folder: string, name: string): Promise<[file: string, name: string][]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: Error) => {
    throw usageError(`${folder} can't be read: ${error.message}`)
  })
  const paths = (which: Dirent[]) => which.map((entry) => join(entry.parentPath, entry.name))
  const files = paths(entries.filter((entry) => entry.isFile()))
  const others = paths(entries.filter((entry) => !entry.isFile() && !entry.isDirectory()))
  if (others.length > 0) out.say(`Left out, as they are links or no files: ${others.join(', ')}`)
  if (files.length === 0) throw usageError(`${folder} is no folder with files.`)
  return files.map((file) => [file, posix.join(name, ...relative(folder, file).split(sep))])
}

async function foldersDown(client: Client, name: string, folder: string): Promise<[name: string, file: string][]> {
  const prefix = name === '' || name.endsWith('/') ? name : `${name}/`
  const entries: Entry[] = await client.storage.list({ prefix })
  const names = entries.flatMap((entry) => (entry.name === undefined ? [] : [entry.name]))
  if (names.length === 0) throw usageError(`The team has no files under ${prefix}`)
  return names.map((one) => [one, placeUnder(folder, one.slice(prefix.length))])
}

/** A name of others as a path below a folder; one that leads out of it is refused. */
function placeUnder(folder: string, name: string): string {
  const file = join(folder, name)
  if (relative(folder, file).split(sep)[0] === '..')
    throw usageError(`The name ${name} leads out of ${folder}. Copy it by itself.`)
  return file
}
