import { TeamStreams, type TabMessage, type TeamMessage } from './team-stream.ts'

/** Listens to a team by the worker that all tabs share, or in this page where the browser has none; gives the way to stop. */
export function listenToTeam(team: string, listener: (message: TeamMessage) => void): () => void {
  if (typeof SharedWorker === 'undefined') return listenInPage(team, listener)
  const worker = new SharedWorker(new URL('team-stream.worker.ts', import.meta.url), {
    type: 'module',
    name: 'team-stream',
  })
  const { port } = worker
  const ask = (message: TabMessage) => port.postMessage(message)
  const reopen = () => ask({ kind: 'reopen', team })
  const leave = () => ask({ kind: 'close' })
  const comeBack = (event: PageTransitionEvent) => {
    if (event.persisted) window.location.reload()
  }
  port.addEventListener('message', ({ data }: MessageEvent<TeamMessage>) => listener(data))
  port.start()
  ask({ kind: 'open', team })
  window.addEventListener('online', reopen)
  window.addEventListener('pagehide', leave)
  window.addEventListener('pageshow', comeBack)
  return () => {
    window.removeEventListener('online', reopen)
    window.removeEventListener('pagehide', leave)
    window.removeEventListener('pageshow', comeBack)
    leave()
  }
}

let streams: TeamStreams | undefined

function listenInPage(team: string, listener: (message: TeamMessage) => void): () => void {
  const here = (streams ??= new TeamStreams())
  const reopen = () => here.reopen(team)
  const leave = here.listen(team, listener)
  window.addEventListener('online', reopen)
  return () => {
    window.removeEventListener('online', reopen)
    leave()
  }
}
