/** What this browser keeps for who is signed in; it goes with the sign-out. */
const PREFIX = 'kept:'

/** A list that is kept here; empty where there is none, or what is there is not a list. */
export function keptList<T>(name: string): T[] {
  const text = localStorage.getItem(PREFIX + name)
  if (text === null) return []
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? (list as T[]) : []
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return []
  }
}

/** Keeps a list, where the browser has the space. */
export function keepList(name: string, list: readonly unknown[]): void {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(list))
  } catch (error) {
    if (!(error instanceof DOMException)) throw error
    localStorage.removeItem(PREFIX + name)
  }
}

/** Forgets all that is kept. */
export function forgetKept(): void {
  for (const key of Object.keys(localStorage)) if (key.startsWith(PREFIX)) localStorage.removeItem(key)
}
