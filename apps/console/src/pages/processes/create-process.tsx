import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useCreateProcess, type Language } from '../../api/queries/processes.ts'
import { Dialog, FormActions } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { faultAt, FormFault } from '../../parts/form-fault.tsx'
import layout from '../../parts/layout.module.css'
import { ScrollRegion } from '../../parts/scroll-region.tsx'
import { languageNames } from '../../rules/languages.ts'
import { templates } from '../../rules/process-templates.ts'
import styles from './processes.module.css'

/** Asks for what a process begins with, and leads to its editor. */
export function CreateProcess({ team, onClose }: { team: string; onClose: () => void }) {
  return (
    <Dialog title="New process" isOpen onClose={onClose}>
      <Form team={team} onClose={onClose} />
    </Dialog>
  )
}

function Form({ team, onClose }: { team: string; onClose: () => void }) {
  const [name, setName] = useState('')
  const [language, setLanguage] = useState<Language>('JAVASCRIPT')
  const [template, setTemplate] = useState(templates[0])
  const creation = useCreateProcess(team)
  const navigate = useNavigate()
  const input = template?.input[language] ?? {}
  return (
    <form
      className={layout.stack}
      onSubmit={(event) => {
        event.preventDefault()
        creation.mutate(
          { ...input, name, programmingLanguage: language },
          { onSuccess: ({ slug }) => void navigate({ to: '/t/$team/processes/$slug/edit', params: { team, slug } }) },
        )
      }}
    >
      <Field
        label="Name"
        hint="Its slug, the name in addresses, comes from it."
        fault={faultAt(creation.error, '/name')}
      >
        <input required value={name} autoComplete="off" onChange={(event) => setName(event.target.value)} />
      </Field>
      <Field label="Language" hint="It can't be changed later." fault={faultAt(creation.error, '/programmingLanguage')}>
        <select value={language} onChange={(event) => setLanguage(event.target.value as Language)}>
          {Object.entries(languageNames).map(([key, word]) => (
            <option key={key} value={key}>
              {word}
            </option>
          ))}
        </select>
      </Field>
      <fieldset className={styles.templates}>
        <legend>Begin with</legend>
        {templates.map((one) => (
          <label key={one.key} className={styles.template}>
            <input type="radio" name="template" checked={one === template} onChange={() => setTemplate(one)} />
            <span>
              {one.title}
              <small>{one.about}</small>
            </span>
          </label>
        ))}
      </fieldset>
      <ScrollRegion label="The code that it begins with" className={styles.code}>
        <pre>{input.sourceCode}</pre>
      </ScrollRegion>
      <FormFault error={creation.error} paths={['/name', '/programmingLanguage']} />
      <FormActions onCancel={onClose} isBusy={creation.isPending}>
        Create
      </FormActions>
    </form>
  )
}
