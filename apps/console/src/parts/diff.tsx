import { lazy, Suspense } from 'react'
import type { CodeLanguage } from '../rules/languages.ts'
import { Loading } from './page-states.tsx'

export interface DiffProps {
  before: string
  after: string
  /** Names of the two sides, such as `v1` and `Draft`. */
  names: [before: string, after: string]
  language: CodeLanguage
}

const View = lazy(() => import('./diff-view.tsx'))

/** What differs between two texts, side by side; below each other on narrow screens. */
export function Diff(props: DiffProps) {
  return (
    <Suspense fallback={<Loading what="differences" />}>
      <View {...props} />
    </Suspense>
  )
}
