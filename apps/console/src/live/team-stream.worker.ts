import { TeamStreams, type TabMessage } from './team-stream.ts'

/** The shared worker: browsers give an origin six connections over HTTP/1.1, so all tabs have one stream between them. */
const streams = new TeamStreams()

interface SharedWorkerScope {
  onconnect: ((event: MessageEvent) => void) | null
}

;(globalThis as unknown as SharedWorkerScope).onconnect = ({ ports: [port] }) => {
  if (port === undefined) return
  let leave: (() => void) | undefined
  port.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => {
    if (data.kind === 'reopen') return streams.reopen(data.team)
    // The new one first: a stream that nobody listens to is given up with its position, and what is missed would not be told.
    const old = leave
    leave = data.kind === 'open' ? streams.listen(data.team, (message) => port.postMessage(message)) : undefined
    old?.()
    if (data.kind === 'close') port.close()
  })
  port.start()
}
