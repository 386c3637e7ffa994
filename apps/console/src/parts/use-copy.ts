import { useToast } from '../shell/toasts.tsx'

/** Copies a text, and says so or that the browser does not let it. */
export function useCopy(): (text: string, done: string) => void {
  const say = useToast()
  const copy = async (text: string, done: string) => {
    try {
      await navigator.clipboard.writeText(text)
      say(done)
    } catch {
      say(new Error('The browser does not let the console copy: it does so over https and on localhost'))
    }
  }
  return (text, done) => void copy(text, done)
}
