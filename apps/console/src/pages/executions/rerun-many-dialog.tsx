import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useRerun } from '../../api/queries/executions.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { useToast } from '../../shell/toasts.tsx'

interface Props {
  team: string
  ids: readonly string[]
  isOpen: boolean
  onClose: () => void
}

/** Asks before it starts executions again, one after the other. */
export function RerunManyDialog({ team, ids, isOpen, onClose }: Props) {
  const rerun = useRerun(team)
  const say = useToast()
  const [done, setDone] = useState(0)
  const stop = useRef<AbortController>(undefined)
  const all = useMutation({
    mutationFn: async ({ signal }: AbortController) => {
      let started = done
      // Those that were started before one was refused are not started twice by a further attempt.
      for (const id of ids.slice(done)) {
        if (signal.aborted) break
        await rerun.mutateAsync({ id })
        started += 1
        // The count of a dialog that was closed must not go into its next opening.
        if (!signal.aborted) setDone(started)
      }
      return started
    },
    onSuccess: (started, { signal }) => {
      say(started === 1 ? 'One execution is started' : `${started} executions are started`)
      if (signal.aborted) return
      setDone(0)
      onClose()
    },
    onError: (error, { signal }) => {
      if (signal.aborted) say(error)
    },
  })
  const close = () => {
    stop.current?.abort()
    setDone(0)
    all.reset()
    onClose()
  }
  return (
    <Confirm
      title={ids.length === 1 ? 'Rerun this execution?' : `Rerun ${ids.length} executions?`}
      verb="Rerun"
      isOpen={isOpen}
      onClose={close}
      isBusy={all.isPending}
      error={all.error}
      onConfirm={() => {
        stop.current = new AbortController()
        all.mutate(stop.current)
      }}
    >
      Each starts again with its parameters and the version that ran; those of no version run the current source.
      {done > 0 && (
        <p role="status">
          {done} of {ids.length} are started.
        </p>
      )}
    </Confirm>
  )
}
