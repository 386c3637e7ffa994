const mostNames = 3
// Of any length, one team's names would take the time of all others.
const longestName = 40

/** Finds, of these names, those that were perhaps meant by one that is not among them: the nearest first, whatever their case and dashes. */
export function nearNames(names: string[]): (name: string) => string[] {
  const known = names.filter(({ length }) => length <= longestName).map((name) => ({ name, known: plain(name) }))
  return (name) => {
    if (name.length > longestName) return []
    const wanted = plain(name)
    const most = wanted.length < 5 ? 1 : 2
    return known
      .filter((each) => each.name !== name)
      .map((each) => ({ name: each.name, far: distance(wanted, each.known, most) }))
      .filter(({ far }) => far <= most)
      .toSorted((a, b) => a.far - b.far)
      .slice(0, mostNames)
      .map((each) => each.name)
  }
}

const plain = (name: string) => name.toLowerCase().replaceAll(/[-_.]/g, '')

/** How many letters from `atA` and `atB` on are to be added, left out, changed, or swapped with the next; infinite where more than `most`. */
function distance(a: string, b: string, most: number, atA = 0, atB = 0): number {
  if (Math.abs(a.length - atA - (b.length - atB)) > most) return Infinity
  let [i, j] = [atA, atB]
  while (i < a.length && a.charCodeAt(i) === b.charCodeAt(j)) {
    i += 1
    j += 1
  }
  if (i === a.length || j === b.length) return a.length - i + (b.length - j)
  if (most === 0) return Infinity
  const isSwapped = a.charCodeAt(i) === b.charCodeAt(j + 1) && a.charCodeAt(i + 1) === b.charCodeAt(j)
  const changed = distance(a, b, most - 1, i + 1, j + 1)
  const leftOut = distance(a, b, most - 1, i + 1, j)
  const added = distance(a, b, most - 1, i, j + 1)
  return 1 + Math.min(changed, leftOut, added, isSwapped ? distance(a, b, most - 1, i + 2, j + 2) : Infinity)
}
