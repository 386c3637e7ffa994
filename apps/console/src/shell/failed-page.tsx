import { Button } from '../parts/button.tsx'
import layout from '../parts/layout.module.css'

/** In place of what could not be drawn: a fault of the console itself. */
export function FailedPage({ error }: { error: Error }) {
  return (
    <div role="alert" className={layout.notice}>
      <h2>The console can&apos;t show this page</h2>
      <p>
        This is a fault of the console. Load the page again: unsaved text of the editor is kept in this browser. If it
        happens again, report the details below.
      </p>
      <div>
        <Button onClick={() => window.location.reload()}>Load the page again</Button>
      </div>
      <details>
        <summary>Details</summary>
        <pre className={layout.log}>{error.stack ?? error.message}</pre>
      </details>
    </div>
  )
}
