// Loaded into each service before its own code: ends it when the supervisor has gone, however that went. The supervisor
// holds the other end of this pipe, so its death, even by SIGKILL, shows as the pipe's end.
import { Socket } from 'node:net'
import { isMainThread } from 'node:worker_threads'

// Threads load this too; one that took the pipe would close it for all when it ends.
if (isMainThread) {
  const lifeline = new Socket({ fd: 3, readable: true, writable: false })
  lifeline.on('error', end).on('close', end).resume()
  lifeline.unref()
}

let ending = false

function end(): void {
  if (ending) return
  ending = true
  process.kill(process.pid, 'SIGTERM')
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), 4000).unref()
}
