import type { ITheme } from '@xterm/xterm'

const light: ITheme = {
  background: '#ffffff',
  foreground: '#1a1d23',
  cursor: '#1a1d23',
  cursorAccent: '#ffffff',
  selectionBackground: '#b9cdfb',
  black: '#1a1d23',
  red: '#b3261e',
  green: '#1a6f3c',
  yellow: '#8a5300',
  blue: '#2f5bd7',
  magenta: '#8a2fb0',
  cyan: '#0f6f7d',
  white: '#6b7280',
  brightBlack: '#555c68',
  brightRed: '#cf3a31',
  brightGreen: '#21864a',
  brightYellow: '#a06400',
  brightBlue: '#4470e8',
  brightMagenta: '#a346cc',
  brightCyan: '#15808f',
  brightWhite: '#3b414c',
}

const dark: ITheme = {
  background: '#14161a',
  foreground: '#e8eaee',
  cursor: '#e8eaee',
  cursorAccent: '#14161a',
  selectionBackground: '#3a4d80',
  black: '#31363f',
  red: '#ff8f85',
  green: '#66cf8f',
  yellow: '#f3b95f',
  blue: '#8aabff',
  magenta: '#d79bf2',
  cyan: '#6fd3e0',
  white: '#c9ced8',
  brightBlack: '#8a919e',
  brightRed: '#ffb3ac',
  brightGreen: '#95e3b3',
  brightYellow: '#ffd591',
  brightBlue: '#b3c8ff',
  brightMagenta: '#e8c2fa',
  brightCyan: '#a1e6ef',
  brightWhite: '#ffffff',
}

/** The colours of a terminal in the theme that the document has now. */
export function themeNow(): ITheme {
  const chosen = document.documentElement.dataset['theme']
  const isDark = chosen === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : chosen === 'dark'
  return isDark ? dark : light
}

/** Calls whenever the colours change: by the system, or by the console in this or another tab. */
export function watchTheme(changed: () => void): void {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', changed)
  addEventListener('storage', ({ key, newValue }) => {
    if (key !== 'theme') return
    if (newValue === null) delete document.documentElement.dataset['theme']
    else document.documentElement.dataset['theme'] = newValue
    changed()
  })
}
