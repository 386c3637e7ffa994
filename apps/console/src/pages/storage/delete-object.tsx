import { useDeleteObject } from '../../api/queries/storage.ts'
import { Deletion } from '../../parts/deletion.tsx'

/** Asks before a file goes for good. */
export function DeleteObject({ team, name, onClose }: { team: string; name: string; onClose: () => void }) {
  const removal = useDeleteObject(team)
  return (
    <Deletion title="Delete the file?" name={name} id={name} removal={removal} onClose={onClose}>
      <code>{name}</code> is gone for good, and links to it lead nowhere.
    </Deletion>
  )
}
