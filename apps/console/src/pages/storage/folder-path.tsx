import { Link } from '@tanstack/react-router'
import { stepsOf } from '../../rules/paths.ts'
import styles from './storage.module.css'

/** The steps from the top to a folder, each a link. */
export function FolderPath({ prefix }: { prefix: string }) {
  return (
    <nav aria-label="Folder" className={styles.path}>
      <Link to="." search={{}} activeOptions={{ exact: true }}>
        All files
      </Link>
      {stepsOf(prefix).map(({ name, path }) => (
        <span key={path}>
          {' / '}
          <Link to="." search={{ prefix: `${path}/` }} activeOptions={{ exact: true }}>
            {name}
          </Link>
        </span>
      ))}
    </nav>
  )
}
