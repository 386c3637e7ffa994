import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { icons } from '../parts/icons.tsx'

const themes = ['system', 'light', 'dark'] as const

/** Goes through system, light and dark, and keeps the choice in this browser. `public/first.js` sets it before the first paint. */
export function ThemeButton() {
  const [theme, setTheme] = useState<string>(document.documentElement.dataset['theme'] ?? 'system')
  const turn = () => {
    const next = themes[(themes.findIndex((one) => one === theme) + 1) % themes.length] ?? 'system'
    if (next === 'system') {
      delete document.documentElement.dataset['theme']
      localStorage.removeItem('theme')
    } else {
      document.documentElement.dataset['theme'] = next
      localStorage.setItem('theme', next)
    }
    setTheme(next)
  }
  return (
    <Button look="quiet" onClick={turn} aria-label={`Theme: ${theme}`} title={`Theme: ${theme}`}>
      {theme === 'dark' ? <icons.moon /> : <icons.sun />}
    </Button>
  )
}
