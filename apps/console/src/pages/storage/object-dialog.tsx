import { useEffect, useRef } from 'react'
import { objectAddress, PREVIEW_BYTES, usePreview, type Preview, type StoredObject } from '../../api/queries/storage.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { icons } from '../../parts/icons.tsx'
import layout from '../../parts/layout.module.css'
import { Answer } from '../../parts/page-states.tsx'
import { Scrollable } from '../../parts/scrollable.tsx'
import { size, Time } from '../../parts/time.tsx'
import { lastName } from '../../rules/paths.ts'
import styles from './storage.module.css'

/** A file: what is known of it, and a look into it. */
export function ObjectDialog({ team, object, onClose }: { team: string; object: StoredObject; onClose: () => void }) {
  const { name, contentType, createdAt, updatedAt } = object
  const preview = usePreview(team, object)
  return (
    <Dialog title={lastName(name)} isOpen isWide onClose={onClose}>
      <dl className={layout.facts}>
        <dt>Name</dt>
        <dd>
          <code>{name}</code>
        </dd>
        <dt>Size</dt>
        <dd>{size(object.size)}</dd>
        <dt>Type</dt>
        <dd>{contentType}</dd>
        <dt>Changed</dt>
        <dd>
          <Time at={updatedAt} />, created <Time at={createdAt} />
        </dd>
      </dl>
      <p>
        <a href={objectAddress(team, name)} download={lastName(name)} className={styles.name}>
          <icons.download /> Download
        </a>
      </p>
      <Answer of={preview} what="preview">
        {(data) => <Look of={data} name={name} />}
      </Answer>
    </Dialog>
  )
}

function Look({ of, name }: { of: Preview; name: string }) {
  if (of.kind === 'none') return <p className={layout.soft}>{of.why}</p>
  if (of.kind === 'image') return <Picture blob={of.blob} name={name} />
  return (
    <>
      {of.isCut && <p className={layout.soft}>The first {size(PREVIEW_BYTES)}:</p>}
      <Scrollable className={styles.preview} label={`Text of ${name}`}>
        {of.text}
      </Scrollable>
    </>
  )
}

function Picture({ blob, name }: { blob: Blob; name: string }) {
  const image = useRef<HTMLImageElement>(null)
  useEffect(() => {
    if (image.current === null) return
    const address = URL.createObjectURL(blob)
    image.current.src = address
    return () => URL.revokeObjectURL(address)
  }, [blob])
  return <img ref={image} alt={name} className={styles.image} />
}
