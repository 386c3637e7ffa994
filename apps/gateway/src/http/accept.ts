const MAX_RANGES = 50

/**
 * Which of these media types a client wants most by its header Accept; the first one where it has none, wants all alike, or
 * wants none of them.
 */
export function preferred<T extends string>(accept: string | undefined, offered: readonly [T, ...T[]]): T {
  let best = { type: offered[0], quality: 0 }
  for (const range of (accept ?? '').split(',', MAX_RANGES)) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const type =
      name === '*/*' || name === `${offered[0].split('/')[0]}/*` ? offered[0] : offered.find((one) => one === name)
    const quality = qualityOf(parameters)
    if (type !== undefined && quality > best.quality) best = { type, quality }
  }
  return best.type
}

function qualityOf(parameters: string[]): number {
  const given = parameters.find((parameter) => parameter.startsWith('q='))
  const quality = given === undefined ? 1 : Number(given.slice(2))
  return quality >= 0 && quality <= 1 ? quality : 0
}
