/** What process code tries to reach from a pod. */
export interface NetworkTarget {
  /** For people: `the Kubernetes API`. */
  name: string
  host: string
  port: number
}

/** What no process code may reach in any cluster; those of an installation come beside it. */
export const targetsEverywhere: NetworkTarget[] = [
  { name: 'the Kubernetes API by its name', host: 'kubernetes.default.svc', port: 443 },
  { name: 'the metadata service', host: '169.254.169.254', port: 80 },
  { name: 'the metadata service by IPv6', host: 'fd00:ec2::254', port: 80 },
]

const connectWithinMs = 3000

/** A JavaScript process that tries all of them, and returns the names of those that it reached: none, where the policy holds. */
export function javascriptAttempts(targets: NetworkTarget[]): string {
  return `
const net = require('net')
const reaches = ({ host, port }) => new Promise((resolve) => {
  const socket = net.connect({ host, port, timeout: ${connectWithinMs} })
  const end = (reached) => { socket.destroy(); resolve(reached) }
  // A refusal is an answer, too: the packets got there.
  socket.on('connect', () => end(true)).on('timeout', () => end(false))
  socket.on('error', (error) => end(error.code === 'ECONNREFUSED'))
})
const targets = ${JSON.stringify(targets)}
const reached = await Promise.all(targets.map(reaches))
return targets.filter((_, at) => reached[at]).map(({ name }) => name)`
}

/** The same in Python. */
export function pythonAttempts(targets: NetworkTarget[]): string {
  return `
import json, socket
from concurrent.futures import ThreadPoolExecutor

def reaches(target):
    try:
        socket.create_connection((target['host'], target['port']), timeout=${connectWithinMs / 1000}).close()
        return True
    except ConnectionRefusedError:
        return True  # the packets got there
    except OSError:
        return False

targets = json.loads(${JSON.stringify(JSON.stringify(targets))})
with ThreadPoolExecutor(16) as threads:
    reached = list(threads.map(reaches, targets))
return [target['name'] for target, got in zip(targets, reached) if got]`
}
