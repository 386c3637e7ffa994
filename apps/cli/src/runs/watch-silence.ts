/**
 * Tells for how many seconds nothing was heard: after 10, and then each time that they have doubled. `heard` begins anew.
 */
export function watchSilence(tell: (seconds: number) => void): { heard(): void; end(): void } {
  let timer: NodeJS.Timeout | undefined
  const waitFrom = (seconds: number, next: number) => {
    timer = setTimeout(
      () => {
        tell(next)
        waitFrom(next, next * 2)
      },
      (next - seconds) * 1000,
    )
  }
  const end = () => clearTimeout(timer)
  const heard = () => {
    end()
    waitFrom(0, 10)
  }
  heard()
  return { heard, end }
}
