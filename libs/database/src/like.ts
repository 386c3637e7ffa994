/** Text as a part of a LIKE pattern that means just this text. */
export function literally(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&')
}
