import type { Process } from '../../api/queries/processes.ts'
import { useVersion } from '../../api/queries/versions.ts'
import { Diff } from '../../parts/diff.tsx'
import { Fault, Loading } from '../../parts/page-states.tsx'
import { codeLanguageOf } from '../../rules/languages.ts'

interface Props {
  team: string
  slug: string
  process: Process
  /** A version's tag or id; absent: the current source. */
  before: string | undefined
  after: string | undefined
}

const CURRENT = 'Current source'

/** What differs between the sources of two versions, or of one and what is edited now. */
export function VersionDiff({ team, slug, process, before, after }: Props) {
  const from = useVersion(team, slug, before)
  const to = useVersion(team, slug, after)
  const error = from.error ?? to.error
  if (error !== null) return <Fault error={error} onRetry={() => void Promise.all([from.refetch(), to.refetch()])} />
  const sourceBefore = before === undefined ? process.sourceCode : from.data?.sourceCode
  const sourceAfter = after === undefined ? process.sourceCode : to.data?.sourceCode
  if (sourceBefore === undefined || sourceAfter === undefined) return <Loading what="sources" />
  return (
    <Diff
      before={sourceBefore}
      after={sourceAfter}
      names={[from.data?.tag ?? CURRENT, to.data?.tag ?? CURRENT]}
      language={codeLanguageOf(process.programmingLanguage)}
    />
  )
}
