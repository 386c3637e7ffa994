import { useState } from 'react'
import { Button } from '../../../parts/button.tsx'
import { ChangedMeanwhile } from '../../../parts/changed-meanwhile.tsx'
import { Diff } from '../../../parts/diff.tsx'
import layout from '../../../parts/layout.module.css'
import type { CodeLanguage } from '../../../rules/languages.ts'
import type { Edit, Stored } from '../../../rules/unsaved.ts'

interface Props {
  /** Who has written theirs, and when. */
  by: { updatedBy: string; updatedAt: string }
  edit: Edit
  theirs: Stored
  language: CodeLanguage
  onOverwrite: () => void
  onTakeTheirs: () => void
}

const pairs = {
  both: 'Theirs and yours',
  theirs: 'What they changed',
  yours: 'What you changed',
} as const
type Pair = keyof typeof pairs

/** Somebody else has saved another source meanwhile: theirs, yours and what both began from, two at a time, and the choice. */
export function ThreeSides({ by, edit, theirs, language, onOverwrite, onTakeTheirs }: Props) {
  const [pair, setPair] = useState<Pair>('both')
  const began = edit.base.text
  const shown = {
    both: { before: theirs.text, after: edit.text, names: ['Theirs', 'Yours'] },
    theirs: { before: began, after: theirs.text, names: ['What you began from', 'Theirs'] },
    yours: { before: began, after: edit.text, names: ['What you began from', 'Yours'] },
  }[pair] as { before: string; after: string; names: [string, string] }
  return (
    <div className={layout.tight}>
      <ChangedMeanwhile what="process" problem={by} onOverwrite={onOverwrite}>
        <Button onClick={onTakeTheirs}>Take theirs</Button>
      </ChangedMeanwhile>
      <div role="group" aria-label="What is compared" className={layout.row}>
        {Object.entries(pairs).map(([name, word]) => (
          <Button
            key={name}
            look={pair === name ? 'plain' : 'quiet'}
            aria-pressed={pair === name}
            onClick={() => setPair(name as Pair)}
          >
            {word}
          </Button>
        ))}
      </div>
      <Diff {...shown} language={language} />
    </div>
  )
}
