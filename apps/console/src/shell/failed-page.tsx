import { Button } from '../parts/button.tsx'
import layout from '../parts/layout.module.css'

/** What browsers say of a file that they did not get. */
const NO_FILES = /^No connection: |dynamically imported module|Importing a module script failed|Unable to preload CSS/

/** In place of what could not be drawn: its files can't be had, or it is a fault of the console itself. */
export function FailedPage({ error }: { error: Error }) {
  return (
    <div role="alert" className={layout.notice}>
      <h2>The console can&apos;t show this page</h2>
      {NO_FILES.test(error.message) ? (
        <p>Its files can&apos;t be loaded. Check your connection, or wait until the service runs, and load it again.</p>
      ) : (
        <p>
          This is a fault of the console. Load the page again: unsaved text of the editor is kept in this browser. If it
          happens again, report the details below.
        </p>
      )}
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
