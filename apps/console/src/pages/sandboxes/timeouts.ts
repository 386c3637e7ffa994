/** How long sandboxes can be given, in words. */
export const TIMEOUTS = [
  { ms: 600_000, words: '10 minutes' },
  { ms: 3_600_000, words: '1 hour' },
  { ms: 14_400_000, words: '4 hours' },
  { ms: 43_200_000, words: '12 hours' },
  { ms: 86_400_000, words: '24 hours' },
] as const
