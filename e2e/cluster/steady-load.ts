import { setTimeout as delay } from 'node:timers/promises'
import type { Answer, Client } from '../client/client.ts'
import { terminalStatuses, type Execution, type LogEntry, type Page, type Process } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'

// It says that it began, so that the log counts how often it did.
const sourceCode = `
console.log('began')
await new Promise((done) => setTimeout(done, svc.context.parameters.workMs))
return svc.context.parameters.answer
`

/** What a load was told and what became of it. */
export interface Verdict {
  /** How many calls were answered with which status; `broken by …` and `late` for those that were not. */
  answers: Record<string, number>
  /** What the answers with 503 and 504 said and what broke, how often, and in which seconds of the load. */
  troubles: Record<string, { count: number; firstS: number; lastS: number }>
  accepted: number
  ends: Record<string, number>
  /** Of runs that did not finish: their timeline in words. */
  unfinished: string[]
  /** Accepted runs that are not there, do not end, began twice, or ended without having begun. */
  broken: string[]
}

// Open at a time. A machine that is slower than the rate gets fewer calls, not a queue that outlives their patience.
const mostCalls = 15

/** Starts runs at a steady rate, or as fast as they are answered, and asks afterwards what became of each that was accepted. */
export class SteadyLoad {
  readonly #client: Client
  readonly #ratePerS: number
  readonly #answers: Record<string, number> = {}
  readonly #troubles: Verdict['troubles'] = {}
  readonly #began = performance.now()
  readonly #accepted = new Set<string>()
  readonly #calls = new Set<Promise<void>>()
  #process = ''
  #going: Promise<void> | undefined
  #stopping = false

  constructor(client: Client, ratePerS: number) {
    this.#client = client
    this.#ratePerS = ratePerS
  }

  async start(): Promise<void> {
    const name = `steady-${Date.now().toString(36)}`
    const made = await this.#client.post<Process>('/processes', { name, sourceCode })
    if (made.status !== 201) throw new Error(`The process was refused with ${made.status}: ${made.text}`)
    this.#process = made.body.id
    this.#going = this.#goOn()
  }

  /** Ends when each call is answered, or given up. */
  async stop(): Promise<void> {
    this.#stopping = true
    await this.#going
    await Promise.all(this.#calls)
  }

  /** Waits until all that was accepted has ended, and looks at each. */
  async verdict(withinMs: number): Promise<Verdict> {
    const broken: string[] = []
    const ends: Record<string, number> = {}
    const unfinished: string[] = []
    const isOver = async () => {
      const open = ['CREATED', 'QUEUED', 'DEQUEUED', 'RUNNING'].map((status) => this.#count(status))
      return (await Promise.all(open)).every((total) => total === 0)
    }
    await waitUntil('all runs to end', isOver, { timeoutMs: withinMs, everyMs: 500 }).catch((error: Error) =>
      broken.push(error.message),
    )
    const ids = [...this.#accepted]
    const look = async () => {
      for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
        const { status, fault, story } = await this.#examine(id)
        ends[status] = (ends[status] ?? 0) + 1
        if (fault !== undefined) broken.push(`${id}: ${fault}`)
        if (status !== 'FINISHED' && story !== undefined) unfinished.push(`${id}: ${story}`)
      }
    }
    await Promise.all(Array.from({ length: 8 }, look))
    return { answers: this.#answers, troubles: this.#troubles, accepted: this.#accepted.size, ends, unfinished, broken }
  }

  async #goOn(): Promise<void> {
    let dueAt = performance.now()
    for (let count = 0; !this.#stopping; count += 1) {
      while (this.#calls.size >= mostCalls) await Promise.race(this.#calls)
      const call = this.#call(count).finally(() => this.#calls.delete(call))
      this.#calls.add(call)
      dueAt = Math.max(dueAt, performance.now()) + 1000 / this.#ratePerS
      await delay(dueAt - performance.now())
    }
  }

  /** Every fourth call waits for its run. */
  async #call(count: number): Promise<void> {
    const operation = count % 4 === 0 ? 'execute-sync' : 'execute'
    const path = `/processes/${this.#process}/${operation}`
    const json = { parameters: { workMs: count % 20 === 0 ? 1500 : 20, answer: count } }
    try {
      const answer = await this.#client.post(path, json, { signal: AbortSignal.timeout(40_000) })
      // A run that ended as ERROR is told by 500 with its id; any other 500 is a fault.
      const ofRun = answer.status === 500 && answer.text.includes('"executionId"')
      this.#note(ofRun ? 'error of a run' : `${answer.status}`)
      if (answer.status === 503 || answer.status === 504) this.#noteTrouble(operation, wordsOf(answer.text))
      const id = answer.headers.get('svc-execution-id')
      if (id !== null && (answer.status < 300 || ofRun)) this.#accepted.add(id)
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof DOMException)) throw error
      const how = error instanceof DOMException ? 'late' : `broken by ${causeOf(error)}`
      this.#note(how)
      this.#noteTrouble(operation, how)
    }
  }

  async #examine(id: string): Promise<{ status: string; fault?: string; story?: string }> {
    const found = await this.#read<Execution>(`/executions/${id}`)
    if (found.status !== 200)
      return { status: `answer ${found.status}`, fault: `accepted, but answers ${found.status}` }
    const { status, timeline } = found.body
    const terminal = timeline.events.filter((event) => terminalStatuses.includes(event.status)).length
    if (terminal !== 1) return { status, fault: `${status} with ${terminal} ends` }
    const logs = await this.#read<Page<LogEntry>>(`/executions/${id}/logs`)
    if (logs.status !== 200) return { status, fault: `its log answers ${logs.status}: ${logs.text.slice(0, 200)}` }
    const began = logs.body.data.filter(({ message }) => message.trim() === 'began').length
    if (began > 1) return { status, fault: `began ${began} times` }
    if (status === 'FINISHED' && began !== 1) return { status, fault: `FINISHED, but began ${began} times` }
    const story = timeline.events.map((event) => `${event.timestamp} ${event.status} ${event.explanation ?? ''}`)
    return { status, story: story.join('; ') }
  }

  /** Again while a service is away, for half a minute; then its answer counts. */
  async #read<T>(path: string): Promise<Answer<T>> {
    for (const end = performance.now() + 30_000; ;) {
      const answer = await this.#client.get<T>(path)
      if (answer.status < 500 || performance.now() > end) return answer
      this.#note(`${answer.status} when looked at`)
      await delay(500)
    }
  }

  async #count(status: string): Promise<number> {
    const { body } = await this.#client.get<Page<Execution>>('/executions', {
      processId: this.#process,
      status,
      limit: 1,
    })
    return body.total
  }

  #noteTrouble(operation: string, words: string): void {
    const nowS = Math.round((performance.now() - this.#began) / 100) / 10
    const trouble = (this.#troubles[`${operation}, ${words}`] ??= { count: 0, firstS: nowS, lastS: nowS })
    trouble.count += 1
    trouble.lastS = nowS
  }

  #note(how: string): void {
    this.#answers[how] = (this.#answers[how] ?? 0) + 1
  }
}

function wordsOf(problem: string): string {
  const { code = '', detail = '' } = JSON.parse(problem) as { code?: string; detail?: string }
  return `${code}: ${detail}`
}

/** The code of what broke a call: `ECONNRESET`. */
function causeOf({ cause, message }: TypeError): string {
  return (cause as { code?: string } | undefined)?.code ?? message
}
