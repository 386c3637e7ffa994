import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useCreateSandbox, useSandboxImages } from '../../api/queries/sandboxes.ts'
import { Dialog, FormActions } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { faultAt, faultUnder, FormFault } from '../../parts/form-fault.tsx'
import layout from '../../parts/layout.module.css'
import { Answer } from '../../parts/page-states.tsx'
import { TIMEOUTS } from './timeouts.ts'

const fields = ['/imageId', '/name', '/timeout', '/publicHttpPorts', '/publicHttpPortsBasicAuth']

/** Asks for what a sandbox is made of, and leads to it. */
export function CreateSandbox({ team, onClose }: { team: string; onClose: () => void }) {
  const images = useSandboxImages(team)
  return (
    <Dialog title="New sandbox" isOpen onClose={onClose}>
      <Answer of={images} what="images">
        {(all) => <Form team={team} images={all} onClose={onClose} />}
      </Answer>
    </Dialog>
  )
}

interface FormProps {
  team: string
  images: { id: string; cpus?: number; memoryMb: number }[]
  onClose: () => void
}

function Form({ team, images, onClose }: FormProps) {
  const [imageId, setImageId] = useState(images[0]?.id ?? '')
  const [name, setName] = useState('')
  const [timeout, setTimeout] = useState(String(TIMEOUTS[1].ms))
  const [ports, setPorts] = useState('')
  const [basicAuth, setBasicAuth] = useState('')
  const creation = useCreateSandbox(team)
  const navigate = useNavigate()
  const { error } = creation
  const numbers = ports.split(/[\s,]+/).filter(Boolean)
  return (
    <form
      className={layout.stack}
      onSubmit={(event) => {
        event.preventDefault()
        creation.mutate(
          {
            imageId,
            timeout: Number(timeout),
            ...(name !== '' && { name }),
            ...(numbers.length > 0 && { publicHttpPorts: numbers.map(Number) }),
            ...(basicAuth !== '' && { publicHttpPortsBasicAuth: basicAuth }),
          },
          {
            onSuccess: ({ id }) =>
              void navigate({ to: '/t/$team/sandboxes/$sandboxId', params: { team, sandboxId: id } }),
          },
        )
      }}
    >
      <Field label="Name" fault={faultAt(error, '/name')}>
        <input value={name} autoComplete="off" onChange={(event) => setName(event.target.value)} />
      </Field>
      <Field label="Image" fault={faultAt(error, '/imageId')}>
        <select value={imageId} onChange={(event) => setImageId(event.target.value)}>
          {images.map(({ id, cpus, memoryMb }) => (
            <option key={id} value={id}>
              {id} · {memoryMb} MiB{cpus === undefined ? '' : ` · ${cpus} CPU`}
            </option>
          ))}
        </select>
      </Field>
      <Field label="Ends after" hint="It can be put off later." fault={faultAt(error, '/timeout')}>
        <select value={timeout} onChange={(event) => setTimeout(event.target.value)}>
          {TIMEOUTS.map(({ ms, words }) => (
            <option key={ms} value={ms}>
              {words}
            </option>
          ))}
        </select>
      </Field>
      <Field
        label="Public ports"
        hint="Where servers of the sandbox are reached from outside, such as 3000, 8080."
        fault={faultUnder(error, '/publicHttpPorts')}
      >
        <input
          value={ports}
          inputMode="numeric"
          pattern="[0-9]+([\s,]+[0-9]+)*[\s,]*"
          autoComplete="off"
          onChange={(event) => setPorts(event.target.value)}
        />
      </Field>
      {numbers.length > 0 && (
        <Field
          label="Credentials for the public ports"
          hint="user:password, asked for by the browser; empty lets everybody in."
          fault={faultAt(error, '/publicHttpPortsBasicAuth')}
        >
          <input value={basicAuth} autoComplete="off" onChange={(event) => setBasicAuth(event.target.value)} />
        </Field>
      )}
      <FormFault error={error} paths={fields} />
      <FormActions onCancel={onClose} isBusy={creation.isPending}>
        Create
      </FormActions>
    </form>
  )
}
