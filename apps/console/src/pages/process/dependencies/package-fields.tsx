import { useState } from 'react'
import { Button } from '../../../parts/button.tsx'
import { Field } from '../../../parts/field.tsx'
import { icons } from '../../../parts/icons.tsx'
import styles from './packages.module.css'
import tab from '../tab.module.css'

interface Props {
  language: 'JAVASCRIPT' | 'PYTHON'
  packages: Record<string, string>
  onChange: (packages: Record<string, string>) => void
}

/** Packages with their versions: changed, taken away, added. */
export function PackageFields({ language, packages, onChange }: Props) {
  const rows = Object.entries(packages).toSorted(([a], [b]) => a.localeCompare(b))
  return (
    <>
      {rows.length === 0 ? (
        <p className={tab.soft}>It has none of its own.</p>
      ) : (
        <ul className={styles.rows}>
          {rows.map(([name, version]) => (
            <li key={name}>
              <code>{name}</code>
              <input
                aria-label={`Version of ${name}`}
                spellCheck={false}
                value={version}
                onChange={(event) => onChange({ ...packages, [name]: event.target.value })}
              />
              <Button
                look="quiet"
                aria-label={`Take ${name} away`}
                onClick={() => onChange(Object.fromEntries(rows.filter(([other]) => other !== name)))}
              >
                <icons.trash />
              </Button>
            </li>
          ))}
        </ul>
      )}
      <NewPackage
        hint={language === 'PYTHON' ? 'A specifier of PEP 440, or * for any.' : 'A range of npm, or * for any.'}
        onAdd={(name, version) => onChange({ ...packages, [name]: version })}
      />
    </>
  )
}

function NewPackage({ hint, onAdd }: { hint: string; onAdd: (name: string, version: string) => void }) {
  const [name, setName] = useState('')
  const [version, setVersion] = useState('')
  const add = () => {
    if (name.trim() === '') return
    onAdd(name.trim(), version.trim() || '*')
    setName('')
    setVersion('')
  }
  return (
    <div className={styles.added}>
      <Field label="Package">
        <input spellCheck={false} autoComplete="off" value={name} onChange={(event) => setName(event.target.value)} />
      </Field>
      <Field label="Version" hint={hint}>
        <input
          placeholder="*"
          spellCheck={false}
          autoComplete="off"
          value={version}
          onChange={(event) => setVersion(event.target.value)}
        />
      </Field>
      <Button onClick={add} disabled={name.trim() === ''}>
        <icons.plus />
        Add
      </Button>
    </div>
  )
}
