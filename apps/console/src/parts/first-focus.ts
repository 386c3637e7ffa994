/**
 * As `ref` of the field that a dialog begins with. The dialog gives it the focus when it opens; React's `autoFocus` would
 * come before that, and the dialog would take the focus away.
 */
export function firstFocus(element: HTMLElement | null): void {
  element?.setAttribute('autofocus', '')
}
