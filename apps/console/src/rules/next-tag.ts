/** The tag that would follow another: its last number and one. Empty where it has none. */
export function nextTag(tag: string): string {
  const [, head, number, tail] = /^(.*?)(\d{1,15})(\D*)$/.exec(tag) ?? []
  return number === undefined ? '' : `${head}${Number(number) + 1}${tail}`
}
