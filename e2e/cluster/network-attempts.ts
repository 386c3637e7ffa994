/** What user code tries to reach from a pod. */
export interface NetworkTarget {
  /** For people: `the Kubernetes API`. */
  name: string
  host: string
  port: number
  /** The pod that it is in, where that pod itself may reach it. */
  pod?: string
  /** Whether a pod that no policy holds gets there; absent where that differs between clusters. */
  isOpen?: boolean
}

const connectWithinMs = 3000

/** The body of a JavaScript process that tries all of them, and returns the names of those that it reached. */
export function javascriptAttempts(targets: NetworkTarget[]): string {
  return `
const net = require('net')
const here = require('os').hostname()
const reaches = ({ host, port }) => new Promise((resolve) => {
  const socket = net.connect({ host, port, timeout: ${connectWithinMs} })
  const end = (reached) => { socket.destroy(); resolve(reached) }
  // A refusal is an answer, too: the packets got there.
  socket.on('connect', () => end(true)).on('timeout', () => end(false))
  socket.on('error', (error) => end(error.code === 'ECONNREFUSED'))
})
const targets = ${JSON.stringify(targets)}.filter(({ pod }) => pod !== here)
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

here = socket.gethostname()
targets = [each for each in json.loads(${JSON.stringify(JSON.stringify(targets))}) if each.get('pod') != here]
with ThreadPoolExecutor(32) as threads:
    reached = list(threads.map(reaches, targets))
return [target['name'] for target, got in zip(targets, reached) if got]`
}

/** A command that makes the attempts, and prints what they give as JSON. */
export function javascriptCommand(targets: NetworkTarget[]): string[] {
  const program = `(async () => {${javascriptAttempts(targets)}\n})().then((names) => console.log(JSON.stringify(names)))`
  return ['node', '-e', program]
}

/** The same in Python. */
export function pythonCommand(targets: NetworkTarget[]): string[] {
  const body = pythonAttempts(targets).replaceAll('\n', '\n    ')
  return ['python3', '-c', `def attempts():${body}\n\nimport json\nprint(json.dumps(attempts()))`]
}
