import { matchesIn } from '../rules/log-search.ts'

/** Asked with further lines, with a text to look for, or both; answered with all lines that have it. */
export interface SearchRequest {
  lines?: string[]
  wanted?: string
}

export interface SearchAnswer {
  wanted: string
  matches: Uint32Array
}

const lines: string[] = []
let wanted = ''
let matches: number[] = []

addEventListener('message', ({ data }: MessageEvent<SearchRequest>) => {
  const searched = lines.length
  for (const line of data.lines ?? []) lines.push(line)
  if (data.wanted !== undefined && data.wanted !== wanted) {
    wanted = data.wanted
    matches = wanted === '' ? [] : matchesIn(lines, wanted)
  } else if (wanted !== '') matches.push(...matchesIn(lines, wanted, searched))
  if (wanted !== '') postMessage({ wanted, matches: Uint32Array.from(matches) } satisfies SearchAnswer)
})
