import { writeSync } from 'node:fs'

const stderr = 2
/** The log of a program that starts before a person: a dot for each line of level info, of a warning its text, others in full. */
export class StartProgress {
  #isOver = false
  /** Something stands on the terminal's last line. */
  #isWithin = true

  constructor(word: string) {
    writeSync(stderr, `${word} `)
  }

  /** Takes a line of the log, with its end. */
  write(line: string): void {
    const { level, msg } = this.#isOver ? {} : (JSON.parse(line) as { level?: string; msg?: string })
    if (level === 'info') {
      this.#isWithin = true
      writeSync(stderr, '.')
      return
    }
    this.#closeLine()
    writeSync(stderr, level === 'warn' ? `warning: ${msg}\n` : line)
  }

  /** From now on every line is written as it is. */
  end(): void {
    this.#isOver = true
    this.#closeLine()
  }

  #closeLine(): void {
    if (!this.#isWithin) return
    this.#isWithin = false
    writeSync(stderr, '\n')
  }
}
