/** Scrolling gives a promise in newer browsers, so that its result is never that of an effect or a ref. */
interface Element {
  scroll(...to: [ScrollToOptions?] | [x: number, y: number]): unknown
  scrollTo(...to: [ScrollToOptions?] | [x: number, y: number]): unknown
  scrollBy(...by: [ScrollToOptions?] | [x: number, y: number]): unknown
  scrollIntoView(how?: boolean | ScrollIntoViewOptions): unknown
}
