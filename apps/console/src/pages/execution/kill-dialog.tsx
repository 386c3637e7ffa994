import { useMutation } from '@tanstack/react-query'
import { useRef } from 'react'
import { ProblemError } from '../../api/problem.ts'
import { useKill } from '../../api/queries/executions.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { useToast } from '../../shell/toasts.tsx'

interface Props {
  team: string
  ids: readonly string[]
  isOpen: boolean
  onClose: () => void
}

/** Asks before it ends executions. */
export function KillDialog({ team, ids, isOpen, onClose }: Props) {
  const kill = useKill(team)
  const say = useToast()
  const stop = useRef<AbortController>(undefined)
  const all = useMutation({
    mutationFn: async ({ signal }: AbortController) => {
      let killed = 0
      for (const id of ids) {
        if (signal.aborted) break
        if (await endsBy(kill.mutateAsync(id))) killed += 1
      }
      return killed
    },
    onSuccess: (killed, { signal }) => {
      if (killed > 0 || !signal.aborted) say(wordsOf(killed))
      if (!signal.aborted) onClose()
    },
    onError: (error, { signal }) => {
      if (signal.aborted) say(error)
    },
  })
  const close = () => {
    stop.current?.abort()
    all.reset()
    onClose()
  }
  const what = ids.length === 1 ? 'this execution' : `${ids.length} executions`
  return (
    <Confirm
      title={`Kill ${what}?`}
      verb="Kill"
      isOpen={isOpen}
      onClose={close}
      isBusy={all.isPending}
      error={all.error}
      onConfirm={() => {
        stop.current = new AbortController()
        all.mutate(stop.current)
      }}
    >
      Code that runs is ended at once, wherever it stands. What it has done until then stays done.
    </Confirm>
  )
}

/** Whether an execution ends because of this; one that has ended by itself meanwhile is no fault. */
async function endsBy(killing: Promise<unknown>): Promise<boolean> {
  try {
    await killing
    return true
  } catch (error) {
    if (error instanceof ProblemError && error.problem.code === 'execution_ended') return false
    throw error
  }
}

function wordsOf(killed: number): string {
  if (killed === 0) return 'Nothing was left to end'
  return killed === 1 ? 'One execution is being ended' : `${killed} executions are being ended`
}
