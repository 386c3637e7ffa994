import { useToast } from '../shell/toasts.tsx'

/** Copies a text, and says so or why not. */
export function useCopy(): (text: string, done: string) => void {
  const say = useToast()
  return (text, done) => {
    navigator.clipboard.writeText(text).then(
      () => say(done),
      (error: unknown) => say(error instanceof Error ? error : new Error('The browser did not copy')),
    )
  }
}
