import { Link } from '@tanstack/react-router'
import { stepsOf } from '../../rules/paths.ts'
import styles from './sandbox.module.css'

/** The steps from the root to a directory, each a link. */
export function FilePath({ path }: { path: string }) {
  const to = (folder: string) => (before: Record<string, unknown>) => ({ ...before, path: folder, file: undefined })
  return (
    <nav aria-label="Directory" className={styles.path}>
      <Link to="." search={to('/')} activeOptions={{ exact: true }}>
        /
      </Link>
      {stepsOf(path).map((step) => (
        <span key={step.path}>
          <Link to="." search={to(step.path)} activeOptions={{ exact: true }}>
            {step.name}
          </Link>
          /
        </span>
      ))}
    </nav>
  )
}
