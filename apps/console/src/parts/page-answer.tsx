import { ProblemError } from '../api/problem.ts'
import { Answer, isShown, type AnswerProps } from './page-states.tsx'
import { Page } from './page.tsx'

/** A page that is of one thing: where that can't be shown the page says so in its heading, and why below it. */
export function PageAnswer<T>(props: AnswerProps<T>) {
  const { of, what } = props
  if (of.error === null || isShown(of)) return <Answer {...props} />
  const isMissing = of.error instanceof ProblemError && of.error.problem.status === 404
  return (
    <Page title={isMissing ? `There is no such ${what}` : `The ${what} can't be shown`}>
      <Answer {...props} />
    </Page>
  )
}
