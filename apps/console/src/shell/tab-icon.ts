import { useEffect } from 'react'

const colors: Partial<Record<string, string>> = {
  FINISHED: '#1a6f3c',
  ERROR: '#b3261e',
  REJECTED: '#b3261e',
  KILLED: '#555c68',
  RUNNING: '#1d5fae',
  DEQUEUED: '#1d5fae',
  QUEUED: '#8a5300',
  CREATED: '#8a5300',
}

const shapes: Partial<Record<string, string>> = {
  FINISHED: 'm9 17 5 5 9-11',
  ERROR: 'm11 11 10 10M21 11 11 21',
  REJECTED: 'm11 11 10 10M21 11 11 21',
  KILLED: 'M11 16h10',
  RUNNING: 'M13 10v12l9-6z',
}

/** What the title begins with, so that a state is seen among many tabs. */
const signs: Partial<Record<string, string>> = { FINISHED: '✓', ERROR: '✗', REJECTED: '✗', KILLED: '■', RUNNING: '▶' }

/** Shows a status as the icon of the browser's tab and in its title while the page is open. */
export function useTabState(status: string, name: string): void {
  useEffect(() => {
    document.title = `${signs[status] ?? '…'} ${name} · Console`
  }, [status, name])
  useEffect(() => {
    const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
    if (link === null) return undefined
    const before = link.href
    const shape = shapes[status] ?? 'M16 10v6l4 3'
    const image = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="15" fill="${colors[status] ?? '#555c68'}"/><path d="${shape}" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>`
    link.href = `data:image/svg+xml,${encodeURIComponent(image)}`
    return () => {
      link.href = before
    }
  }, [status])
}
