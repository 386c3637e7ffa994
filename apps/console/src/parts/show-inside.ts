/** Scrolls a part sideways, and nothing around it, to where the element of a selector is in its middle. */
export function showInside(part: HTMLElement | null, selector: string): void {
  const element = part?.querySelector<HTMLElement>(selector)
  if (part === null || element == null) return
  const box = element.getBoundingClientRect()
  const around = part.getBoundingClientRect()
  if (box.left >= around.left && box.right <= around.right) return
  part.scrollLeft += box.left + box.width / 2 - (around.left + around.width / 2)
}
