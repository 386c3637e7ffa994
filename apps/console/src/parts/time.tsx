import { useSyncExternalStore } from 'react'
import { inFull } from '../rules/local-times.ts'

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })

const units: [Intl.RelativeTimeFormatUnit, ms: number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
]

/** How often the present moves on; what is nearer to it than this is `just now`. */
const TICK_MS = 10_000

/** How long ago or ahead, in words: `3 min. ago`. */
export function ago(at: number, now: number): string {
  const distance = at - now
  if (Math.abs(distance) < TICK_MS) return 'just now'
  const [unit, ms] = units.find(([, size]) => Math.abs(distance) >= size) ?? ['second', 1000]
  return relative.format(Math.trunc(distance / ms), unit)
}

let now = Date.now()
const listeners = new Set<() => void>()
setInterval(() => {
  now = Date.now()
  for (const listener of listeners) listener()
}, TICK_MS)

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The present, which moves on with each tick. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now)

/** A time relative to now; its zone and UTC are in the title. */
export function Time({ at }: { at: string | undefined }) {
  const present = useNow()
  if (at === undefined) return <>–</>
  const date = new Date(at)
  return (
    <time dateTime={at} title={inFull(date.toISOString())}>
      {ago(date.getTime(), present)}
    </time>
  )
}

/** A length of time in words: `1.2 s`, `3 min 4 s`. */
export function duration(ms: number): string {
  // Rounded first, so that no part of it is a whole one of the next unit.
  if (Math.round(ms) < 1000) return `${Math.round(ms)} ms`
  const tenths = Math.round(ms / 100)
  if (tenths < 100) return `${(tenths / 10).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** A size in words: `1.2 MB`. */
export function size(bytes: number): string {
  const names = ['B', 'KB', 'MB', 'GB', 'TB']
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), names.length - 1)
  return `${(bytes / 1000 ** power).toFixed(power === 0 || bytes / 1000 ** power >= 100 ? 0 : 1)} ${names[power]}`
}
