import { useNavigate, useSearch } from '@tanstack/react-router'

type Changes = Record<string, string | undefined>

export interface View {
  /** A value behind the `?` of the address, empty where there is none. */
  get: (name: string) => string
  /** Changes some of them; Back undoes it, unless it is a change by typing. Empty ones go. */
  set: (changes: Changes, how?: { byTyping?: boolean }) => void
}

/** What the page shows, as its address says: filters, tab, cursor. */
export function useView(): View {
  const search: Record<string, unknown> = useSearch({ strict: false })
  const navigate = useNavigate()
  return {
    get: (name) => {
      const value = search[name]
      return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
    },
    set: (changes, { byTyping = false } = {}) => {
      const cleared = Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, value || undefined]))
      void navigate({
        to: '.',
        search: (before: Record<string, unknown>) => ({ ...before, ...cleared }),
        replace: byTyping,
      })
    },
  }
}
