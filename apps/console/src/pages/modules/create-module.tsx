import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useCreateModule } from '../../api/queries/modules.ts'
import { Dialog, FormActions } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { faultAt, FormFault } from '../../parts/form-fault.tsx'
import layout from '../../parts/layout.module.css'

const sources = {
  JAVASCRIPT: "export function greet(name) {\n  return 'Hello, ' + name\n}\n",
  PYTHON: "def greet(name):\n    return 'Hello, ' + name\n",
}

/** Asks for a name and a language, and leads to the new module. */
export function CreateModule({ team, onClose }: { team: string; onClose: () => void }) {
  const [name, setName] = useState('')
  const [language, setLanguage] = useState<keyof typeof sources>('JAVASCRIPT')
  const creation = useCreateModule(team)
  const navigate = useNavigate()
  return (
    <Dialog title="New module" isOpen onClose={onClose}>
      <form
        className={layout.stack}
        onSubmit={(event) => {
          event.preventDefault()
          creation.mutate(
            { name, programmingLanguage: language, sourceCode: sources[language] },
            {
              onSuccess: ({ id }) =>
                void navigate({ to: '/t/$team/modules/$moduleId', params: { team, moduleId: id } }),
            },
          )
        }}
      >
        <Field label="Name" hint="What code imports it by." fault={faultAt(creation.error, '/name')}>
          <input
            required
            autoComplete="off"
            spellCheck={false}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </Field>
        <Field label="Language" fault={faultAt(creation.error, '/programmingLanguage')}>
          <select value={language} onChange={(event) => setLanguage(event.target.value as keyof typeof sources)}>
            <option value="JAVASCRIPT">JavaScript</option>
            <option value="PYTHON">Python</option>
          </select>
        </Field>
        <FormFault error={creation.error} paths={['/name', '/programmingLanguage']} />
        <FormActions onCancel={onClose} isBusy={creation.isPending}>
          Create
        </FormActions>
      </form>
    </Dialog>
  )
}
