const most = 32
const key = /^[a-z0-9](?:[a-z0-9._/-]{0,61}[a-z0-9])?$/
const value = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/

/** What is wrong with labels of a runner or a pool, as the end of a sentence; undefined where nothing is. */
export function labelFault(labels: readonly (readonly [string, string])[]): string | undefined {
  if (labels.length > most) return `must be at most ${most} labels`
  const wrong = labels.find(([name, text]) => !key.test(name) || !value.test(text))
  if (wrong === undefined) return undefined
  return `must be name=value, with names of 1 to 63 of a-z, 0-9 and inner ._/- and values of up to 63 of A-Z, a-z, 0-9 and inner ._-; ${JSON.stringify(wrong[0].slice(0, 80))} is not`
}
