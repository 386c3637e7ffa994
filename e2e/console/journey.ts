import type { Locator, Page } from 'playwright-core'

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

  /** Tab until it has the focus, as somebody without a mouse does; pointing at a thing is no act, pressing it is. */
  async reach(target: Locator, mostTabs = 80): Promise<void> {
    await target.waitFor()
    for (let tabs = 0; tabs < mostTabs; tabs += 1) {
      if (await target.evaluate((element) => element === document.activeElement)) return
      await this.#page.keyboard.press('Tab')
    }
    throw new Error(`Tab does not lead to ${target.toString()}`)
  }

  /** A key, or several at once as `Control+Enter`: one act. */
  async press(key: string): Promise<void> {
    this.#took.acts += 1
    this.#since = performance.now()
    await this.#page.keyboard.press(key)
  }

  /** Text in place of what stands in the field that has the focus: no act of its own. */
  async type(text: string): Promise<void> {
    await this.#page.keyboard.press('Control+a')
    await this.#page.keyboard.insertText(text)
    this.#since = performance.now()
  }

  /** Text from elsewhere, beside all fields: one act. */
  async paste(text: string): Promise<void> {
    this.#took.acts += 1
    await this.#page.evaluate((copied) => navigator.clipboard.writeText(copied), text)
    this.#since = performance.now()
    await this.#page.keyboard.press('Control+v')
  }

  /** Waits for what the user wants to see, since the last act. */
  async sees(what: string | RegExp | Locator): Promise<void> {
    const place = typeof what === 'string' || what instanceof RegExp ? this.#page.getByText(what) : what
    await place.filter({ visible: true }).first().waitFor()
    this.#took.ms = Math.max(this.#took.ms, Math.round(performance.now() - this.#since))
  }
}

/** What all jobs took until now, as lines. */
export function report(): string {
  return taken.map(({ job, acts, ms }) => `${job.padEnd(48)} ${acts} acts  ${ms} ms`).join('\n')
}
