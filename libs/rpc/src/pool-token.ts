/** What every pool token begins with, so that people and scanners know one. */
export const poolTokenHead = 'pool_'

const form = /^pool_[A-Za-z0-9_-]{43}$/

/** Whether a text has the form of a pool token; execution alone knows whether it is good. */
export function isPoolToken(text: string): boolean {
  return form.test(text)
}
