/** The value below which the given part of the sorted values lies; 0 where there are none. */
export function percentile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(sorted.length * part) - 1))] ?? 0
}

export function median(values: readonly number[]): number {
  return middle(values.toSorted((a, b) => a - b))
}

/** What one repeat measured, by name of the metric. */
export type Sample = Record<string, number>

export interface Spread {
  median: number
  min: number
  max: number
}

/** Median, smallest and largest of each metric over the repeats. */
export function spreads(samples: readonly Sample[]): Record<string, Spread> {
  const names = [...new Set(samples.flatMap((sample) => Object.keys(sample)))]
  return Object.fromEntries(
    names.map((name) => {
      const values = samples.flatMap((sample) => sample[name] ?? []).toSorted((a, b) => a - b)
      return [name, { median: middle(values), min: values[0] ?? 0, max: values.at(-1) ?? 0 }]
    }),
  )
}

function middle(sorted: readonly number[]): number {
  const half = sorted.length / 2
  if (sorted.length % 2 === 1) return sorted[Math.floor(half)] ?? 0
  return ((sorted[half - 1] ?? 0) + (sorted[half] ?? 0)) / 2
}
