import type { Page } from 'playwright-core'

/** What one job took: what its user did, and how long each wait was. */
export interface Took {
  job: string
  acts: number
  ms: number
}

const taken: Took[] = []

/** One of the console's jobs as its user does it, by the keyboard alone, with its acts counted. */
export class Journey {
  readonly #page: Page
  readonly #took: Took
  #since = performance.now()

  constructor(page: Page, job: string) {
    this.#page = page
    this.#took = { job, acts: 0, ms: 0 }
    taken.push(this.#took)
  }

  get acts(): number {
    return this.#took.acts
  }

  /** A key, or several at once as `Control+Enter`. What is pressed to reach a field counts; what is typed into it does not. */
  async press(key: string): Promise<void> {
    this.#took.acts += 1
    this.#since = performance.now()
    await this.#page.keyboard.press(key)
  }

  /** Text into what has the focus: one act, as a paste is. */
  async type(text: string): Promise<void> {
    this.#took.acts += 1
    await this.#page.keyboard.insertText(text)
    this.#since = performance.now()
  }

  /** Waits for what the user wants to see, since the last act. */
  async sees(what: string | RegExp): Promise<void> {
    await this.#page.getByText(what).filter({ visible: true }).first().waitFor()
    this.#took.ms = Math.max(this.#took.ms, Math.round(performance.now() - this.#since))
  }
}

/** What all jobs took until now, as lines. */
export function report(): string {
  return taken.map(({ job, acts, ms }) => `${job.padEnd(48)} ${acts} acts  ${ms} ms`).join('\n')
}
