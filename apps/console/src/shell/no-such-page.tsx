import { Link } from '@tanstack/react-router'
import { Empty } from '../parts/page-states.tsx'
import { Page } from '../parts/page.tsx'

/** An address that leads nowhere. */
export function NoSuchPage() {
  return (
    <Page title="There is no such page">
      <Empty title="The address leads nowhere">
        <Link to="/">To the start of the console</Link>
      </Empty>
    </Page>
  )
}
