import { isDeepStrictEqual } from 'node:util'
import type { Client } from '../client/client.ts'
import { terminalStatuses } from '../client/records.ts'
import type { Execution, Language, Process, Status } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { sourceOf } from './everyday.ts'
import type { Everyday } from './everyday.ts'

/** What became of one package. */
export interface Outcome {
  language: Language
  name: string
  version?: string
  /** From the process's creation until its packages were there. */
  installMs?: number
  /** Of the first run and of the second, without waiting. */
  runsMs?: number[]
  /** Why it does not work. */
  fault?: string
}

interface Found {
  value: unknown
  version: string
}

/** Installs a package for a process of its own and runs its code twice. */
export async function tryPackage(
  client: Client,
  language: Language,
  entry: Everyday,
  timeoutMs: number,
): Promise<Outcome> {
  const outcome: Outcome = { language, name: entry.name }
  try {
    const process = await make(client, language, entry)
    for (const wait of [timeoutMs, 60_000]) {
      const execution = await run(client, process, wait)
      outcome.installMs ??= between(execution, 'CREATED', 'RUNNING')
      if (execution.status !== 'FINISHED') return { ...outcome, fault: whyOf(execution) }
      outcome.runsMs = [...(outcome.runsMs ?? []), between(execution, 'RUNNING', 'FINISHED') ?? 0]
      const { value, version } = JSON.parse(execution.returnValue ?? 'null') as Found
      outcome.version = version
      if (!isDeepStrictEqual(value, entry.gives)) return { ...outcome, fault: `gave ${JSON.stringify(value)}` }
    }
    await client.delete(`/processes/${process.id}`)
    return outcome
  } catch (error) {
    return { ...outcome, fault: (error as Error).message }
  }
}

async function make(client: Client, language: Language, entry: Everyday): Promise<Process> {
  const answer = await client.post<Process>('/processes', {
    name: `${language.toLowerCase()} ${entry.name}`,
    programmingLanguage: language,
    sourceCode: sourceOf(language, entry),
    manifest: { dependencies: { [entry.name]: '*' } },
    settings: { dependencies: { scopedToProcess: true } },
  })
  if (answer.status !== 201) throw new Error(`was refused with ${answer.status}: ${answer.text.slice(0, 500)}`)
  return answer.body
}

async function run(client: Client, process: Process, timeoutMs: number): Promise<Execution> {
  const started = await client.post<{ executionId: string }>(`/processes/${process.id}/execute`, {})
  if (started.status !== 202) throw new Error(`its run was refused with ${started.status}: ${started.text}`)
  const ask = async () => {
    const { body, status, text } = await client.get<Execution>(`/executions/${started.body.executionId}`)
    if (status !== 200) throw new Error(`its run is answered with ${status}: ${text}`)
    return terminalStatuses.includes(body.status) && body
  }
  return waitUntil('the end of its run', ask, { timeoutMs, everyMs: 100 })
}

/** Milliseconds from one status to another. */
function between({ timeline }: Execution, from: Status, to: Status): number | undefined {
  const [start, end] = [from, to].map((wanted) => timeline.events.find(({ status }) => status === wanted)?.timestamp)
  return start === undefined || end === undefined ? undefined : Date.parse(end) - Date.parse(start)
}

function whyOf({ status, timeline }: Execution): string {
  return `${status}: ${timeline.events.at(-1)?.explanation ?? 'without a word'}`
}
