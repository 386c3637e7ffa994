import { useState } from 'react'
import { useToast } from '../shell/toasts.tsx'
import { Button } from './button.tsx'
import { icons } from './icons.tsx'

const SAID_MS = 2000

/** Copies a text; `what` names it, such as `the address`. With `children` in place of the icon alone. */
export function CopyButton({ text, what, isNamed = false }: { text: string; what: string; isNamed?: boolean }) {
  const [isCopied, setCopied] = useState(false)
  const say = useToast()
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
      setTimeout(() => setCopied(false), SAID_MS)
    } catch {
      // Browsers give the clipboard only to pages over https and of localhost.
      say(new Error(`The browser does not let the console copy ${what}`))
    }
  }
  return (
    <Button
      look={isNamed ? 'plain' : 'quiet'}
      aria-label={`Copy ${what}`}
      title={`Copy ${what}`}
      onClick={() => void copy()}
    >
      {isCopied ? <icons.check /> : <icons.copy />}
      {isNamed && <span aria-live="polite">{isCopied ? 'Copied' : 'Copy'}</span>}
    </Button>
  )
}
