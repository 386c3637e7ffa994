import type { Client } from '@automation/client'

/** What happens in a team. */
export type TeamEvents = ReturnType<Client['team']['events']>

/**
 * Does work with the changes of a team's runs, or of those of one process. Their stream is asked for before the work reads
 * anything: a run that comes meanwhile is in one of the two. The signal ends with the work, and so does the stream.
 */
export async function withChanges(
  client: Client,
  processId: string | undefined,
  work: (changes: TeamEvents, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const left = new AbortController()
  const { signal } = left
  const events = client.team.events({ types: ['execution'], processId }, { signal })
  const first = events.next()
  // Its failure is looked at when changes are read; the work may fail before.
  first.catch(() => undefined)
  try {
    await work(goingOn(first, events), signal)
  } finally {
    left.abort()
  }
}

async function* goingOn(first: ReturnType<TeamEvents['next']>, others: TeamEvents): TeamEvents {
  const { done, value } = await first
  if (done === true) return
  yield value
  yield* others
}
