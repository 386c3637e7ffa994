/** Lets one wait for a condition that is looked at again whenever something has changed. */
export class Changes {
  #look: (() => void) | undefined

  happened(): void {
    this.#look?.()
  }

  /** Resolves when it is so, or after `ms`. One at a time. */
  async until(isSo: () => boolean, ms: number): Promise<void> {
    if (isSo()) return
    await new Promise<void>((resolve) => {
      const timer = ms === Infinity ? undefined : setTimeout(resolve, ms)
      this.#look = () => {
        if (!isSo()) return
        clearTimeout(timer)
        resolve()
      }
    })
    this.#look = undefined
  }
}
