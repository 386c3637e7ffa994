/** Single keys are for those who want them: speech input and a hand that rests on the keyboard press them unmeant. */
const SETTING = 'single-keys'

export const singleKeysAreOn = (): boolean => localStorage.getItem(SETTING) !== 'off'

export function setSingleKeys(isOn: boolean): void {
  if (isOn) localStorage.removeItem(SETTING)
  else localStorage.setItem(SETTING, 'off')
}

/** Whether what is pressed is meant for a field. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  return (
    target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.closest('dialog') !== null
  )
}

/** Whether a key is one pressed alone, outside of fields and dialogs, by somebody who wants single keys. */
export function isSingleKey(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return false
  return singleKeysAreOn() && !isTyping(event.target) && document.querySelector('dialog[open]') === null
}
