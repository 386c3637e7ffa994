/**
 * Tells on stderr how far it is: one line that moves on a terminal; otherwise plain lines, one each 5 seconds.
 *
 * @returns {{ show(text: string): void, end(): void }}
 */
export function progressLine() {
  const { stderr } = process
  let lastAt = 0
  let shown = false
  return {
    show(text) {
      shown = true
      if (stderr.isTTY) {
        stderr.write(`\r\u001B[2K${text.slice(0, (stderr.columns ?? 80) - 1)}`)
      } else if (Date.now() - lastAt >= 5000) {
        lastAt = Date.now()
        stderr.write(`${text}\n`)
      }
    },
    end() {
      if (shown && stderr.isTTY) stderr.write('\r\u001B[2K')
    },
  }
}
