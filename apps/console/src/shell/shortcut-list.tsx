import { useState } from 'react'
import { Dialog } from '../parts/dialog.tsx'
import { places } from './places.ts'
import { setSingleKeys, singleKeysAreOn } from './shortcuts.ts'
import styles from './palette.module.css'

const groups = [
  [
    'Everywhere',
    [
      ['Ctrl K', 'Go to an execution, a process or a page'],
      ['Ctrl V', 'Open the execution whose id or address is pasted'],
      ['y', 'Copy what the page shows as curl'],
      ['?', 'This list'],
      ...places.map(({ letter, name }) => [`g ${letter}`, name] as const),
    ],
  ],
  [
    'Lists',
    [
      ['j', 'Next row'],
      ['k', 'Row before'],
      ['Enter', 'Open the row'],
      ['s', 'Select the row'],
      ['/', 'Filter'],
    ],
  ],
  [
    'Executions',
    [
      ['r', 'Rerun'],
      ['x', 'Kill; it asks first'],
      ['c', 'Copy the link'],
      ['[', 'Run before it in the list'],
      [']', 'Next run in the list'],
      ['Ctrl Enter', 'Run, in the form of a rerun'],
      ['Esc', 'Back to the list'],
    ],
  ],
  [
    'Editor',
    [
      ['Ctrl Enter', 'Run what stands in it'],
      ['Ctrl S', 'Save'],
      ['Esc Tab', 'Leave it'],
      ['y', 'Copy the run as curl'],
    ],
  ],
  [
    'Log',
    [
      ['/', 'Search'],
      ['n', 'Next match, or next error'],
      ['N', 'Match or error before'],
      ['f', 'Follow the end'],
    ],
  ],
] as const

/** All keys, and whether single ones count. */
export default function ShortcutList({ onClose }: { onClose: () => void }) {
  const [isOn, setOn] = useState(singleKeysAreOn)
  return (
    <Dialog title="Keys" isOpen onClose={onClose} isWide>
      <label className={styles.setting}>
        <input
          type="checkbox"
          checked={isOn}
          onChange={(event) => {
            setSingleKeys(event.target.checked)
            setOn(event.target.checked)
          }}
        />
        Single keys count. Without them only those with Ctrl do.
      </label>
      <div className={styles.groups}>
        {groups.map(([title, keys]) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {keys.map(([key, does]) => (
                <div key={key}>
                  <dt>
                    {key.split(' ').map((part) => (
                      <kbd key={part}>{part}</kbd>
                    ))}
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}
