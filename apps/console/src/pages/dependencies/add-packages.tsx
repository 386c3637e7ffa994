import { useState } from 'react'
import type { Language } from '../../api/queries/dependencies.ts'
import { Button } from '../../parts/button.tsx'
import layout from '../../parts/layout.module.css'
import { packagesIn, type Packages } from '../../rules/package-lists.ts'

interface Props {
  language: Language
  isHeld: boolean
  onAdd: (packages: Packages) => void
}

/** One or several packages, as they stand in a command or a requirements file. */
export function AddPackages({ language, isHeld, onAdd }: Props) {
  const [text, setText] = useState('')
  const example = language === 'PYTHON' ? 'requests>=2.31, pandas==2.2.1' : 'lodash@^4, zod'
  return (
    <form
      className={layout.row}
      onSubmit={(event) => {
        event.preventDefault()
        onAdd(packagesIn(text))
        setText('')
      }}
    >
      <input
        className={layout.filter}
        style={{ flex: '1 1 240px' }}
        aria-label="Packages to add"
        placeholder={`Add packages, such as ${example}`}
        required
        spellCheck={false}
        autoComplete="off"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Button type="submit" disabled={isHeld || text.trim() === ''}>
        Stage
      </Button>
    </form>
  )
}
