import type { IconName } from '../parts/icon-outlines.ts'
import { idIn } from './id-in.ts'
import { readCurl, type CurlCall } from './read-curl.ts'

interface Shown {
  key: string
  icon: IconName
  name: string
  note: string
}

/** Where the palette can lead. */
export type PaletteItem<To extends string = string> = Shown &
  (
    | { kind: 'id'; id: string }
    | { kind: 'page'; to: To }
    | { kind: 'execution'; id: string }
    | { kind: 'process' | 'runs'; slug: string }
    | { kind: 'search'; q: string }
    | { kind: 'cron'; slug: string; cron: string }
    | { kind: 'call'; call: CurlCall }
  )

interface Known<To extends string> {
  processes: readonly { slug: string; name: string }[]
  visits: readonly { kind: 'execution' | 'process'; id: string; name: string }[]
  pages: readonly { to: To; icon: IconName; name: string; letter: string }[]
}

const MOST_PROCESSES = 8
/** Five or six fields, one of them of more than letters, so that words are none. */
const CRON = /^(?=.*[\d*])(?:[\d*/,\-?LW#A-Z]+\s+){4,5}[\d*/,\-?LW#A-Z]+$/i

/** What a text may mean, the most likely first: an id wherever it stands in it, then what has a name like it. */
export function matchingPlaces<To extends string>(
  text: string,
  { processes, visits, pages }: Known<To>,
): PaletteItem<To>[] {
  const wanted = text.trim()
  const id = idIn(wanted)
  if (id !== undefined)
    return [{ kind: 'id', key: id, icon: 'right', name: `Execution ${id}`, note: 'in whichever team has it', id }]
  const call = readCurl(wanted)
  if (call !== undefined) {
    const name = call.kind === 'webhook' ? `Try the webhook of ${call.slug}` : `Run ${call.slug}`
    return [{ kind: 'call', key: 'call', icon: 'play', name, note: 'with what curl sends', call }]
  }
  if (CRON.test(wanted)) return schedulesOf(wanted, processes, visits)
  const lower = wanted.toLowerCase()
  const like = (...names: string[]) => names.some((name) => name.toLowerCase().includes(lower))
  const visited = visits
    .filter((visit) => like(visit.name, visit.id))
    .map((visit): PaletteItem<To> => {
      const shown = { key: `visit ${visit.id}`, name: visit.name }
      return visit.kind === 'execution'
        ? { ...shown, kind: 'execution', icon: 'clock', note: `execution …${visit.id.slice(-8)}`, id: visit.id }
        : { ...shown, kind: 'process', icon: 'clock', note: 'process', slug: visit.id }
    })
  const named = pages
    .filter(({ name }) => like(name))
    .map(({ to, icon, name, letter }): PaletteItem<To> => ({
      kind: 'page',
      key: to,
      to,
      icon,
      name,
      note: `page, g ${letter}`,
    }))
  if (wanted === '') return [...visited.slice(0, 6), ...named]
  const found = processes
    .filter(({ slug, name }) => like(slug, name))
    .toSorted((a, b) => rank(a, lower) - rank(b, lower))
    .slice(0, MOST_PROCESSES)
  return [
    ...found.map(({ slug, name }): PaletteItem<To> => ({
      kind: 'process',
      key: `process ${slug}`,
      icon: 'code',
      name,
      note: 'process',
      slug,
    })),
    ...named,
    ...visited.filter(({ kind }) => kind === 'execution').slice(0, 4),
    ...found.slice(0, 3).map(({ slug, name }): PaletteItem<To> => ({
      kind: 'runs',
      key: `runs ${slug}`,
      icon: 'list',
      name: `Executions of ${name}`,
      note: 'list',
      slug,
    })),
    { kind: 'search', key: 'search', icon: 'search', name: `Executions with ${wanted}`, note: 'search', q: wanted },
  ]
}

/** Processes to be scheduled by a cron, those that were open last before the others. */
function schedulesOf<To extends string>(
  cron: string,
  processes: Known<To>['processes'],
  visits: Known<To>['visits'],
): PaletteItem<To>[] {
  const seen = visits.filter(({ kind }) => kind === 'process').map(({ id }) => id)
  const at = (slug: string) => (seen.includes(slug) ? seen.indexOf(slug) : seen.length)
  return processes
    .toSorted((a, b) => at(a.slug) - at(b.slug))
    .slice(0, MOST_PROCESSES)
    .map(({ slug, name }) => ({
      kind: 'cron',
      key: `cron ${slug}`,
      icon: 'calendar',
      name: `Schedule ${name}`,
      note: `by ${cron}`,
      slug,
      cron,
    }))
}

/** What begins with the text comes before what has it further in. */
const rank = ({ slug, name }: { slug: string; name: string }, lower: string): number =>
  slug === lower || name.toLowerCase() === lower
    ? 0
    : slug.startsWith(lower) || name.toLowerCase().startsWith(lower)
      ? 1
      : 2
