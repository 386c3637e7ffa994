import { useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import { ProblemError } from '../../api/problem.ts'
import { useForm, type FormPlace } from '../../api/queries/forms.ts'
import layout from '../../parts/layout.module.css'
import { Answer } from '../../parts/page-states.tsx'
import { SessionGate } from '../../session/session-gate.tsx'
import { useView } from '../../shell/view.ts'
import { FilledForm } from './filled-form.tsx'
import styles from './form.module.css'

/** The form of a process, without the rest of the console; who has no link with a token signs in. */
export function FormPage() {
  const { team, slug } = useParams({ from: '/forms/$team/$slug' })
  const token = useView().get('token')
  const sheet = <Sheet place={{ team, slug, token }} />
  return token === '' ? <SessionGate>{sheet}</SessionGate> : sheet
}

function Sheet({ place }: { place: FormPlace }) {
  const form = useForm(place)
  const name = form.data?.name
  const isMissing = form.error instanceof ProblemError && form.error.problem.status === 404
  useEffect(() => {
    if (name !== undefined) document.title = name
  }, [name])
  return (
    <main className={styles.page}>
      {isMissing ? (
        <div className={layout.stack}>
          <h1>This form is not open</h1>
          <p>It was turned off, or its address is wrong. Ask who gave you the link.</p>
        </div>
      ) : (
        <Answer of={form} what="form">
          {(data) => <FilledForm place={place} form={data} />}
        </Answer>
      )}
    </main>
  )
}
