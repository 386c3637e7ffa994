import { useState } from 'react'
import { useKeys } from './use-keys.ts'

/** The row of a list that `j` and `k` have chosen, which Enter opens. A row is scrolled to by its element `row-ID`. */
export function useRowKeys(ids: readonly string[], onOpen: (id: string) => void): string | undefined {
  const [chosenId, setChosenId] = useState<string>()
  const at = chosenId === undefined ? -1 : ids.indexOf(chosenId)
  const move = (step: number) => {
    const next = ids[Math.min(ids.length - 1, Math.max(0, at + step))]
    setChosenId(next)
    if (next !== undefined) document.getElementById(`row-${next}`)?.scrollIntoView({ block: 'nearest' })
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => {
      const isOnControl = document.activeElement?.matches('a, button, input, summary') === true
      if (at < 0 || chosenId === undefined || isOnControl) return false
      onOpen(chosenId)
    },
  })
  return chosenId
}
