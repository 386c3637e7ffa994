import type { Reason } from './explanation.ts'

/** What the network of runs keeps from them. */
export interface RunNetwork {
  /** TCP ports of the service itself. */
  closedPorts: readonly number[]
  /** Runs have a loopback of their own. */
  isOwn: boolean
}

// As Node and Python say it. Process code makes these texts: nothing here takes
// longer than a text is long.
const refused = /\bconnect E(?:CONNREFUSED|ACCES|HOSTUNREACH|NETUNREACH)\b|\[Errno (?:111|113|101)\]/
// Of a file its name follows.
const denied = /\[Errno 13\] Permission denied(?!: ['"])/
const ofConnections = /connect|urlopen|socket/i
const addresses =
  /(?:\bconnect E[A-Z]+ |:\/\/|host=')(127\.[\d.]{1,11}|localhost|::1|\[::1\])?[^\s/]{0,80}?(?::|(?:', )?port=)(\d{1,5})\b/g

/**
 * The reason of a failure, with a further sentence where it looks like a connection to the service's own ports, or to the
 * loopback of a machine that the run is not on.
 */
export function explainRefusal(reason: Reason, { closedPorts, isOwn }: RunNetwork): Reason {
  const { log } = reason
  // The kernel denies connections to closed ports alone; a plain socket of Python does not say to which.
  const isDenied = denied.test(log) && ofConnections.test(log)
  if (!refused.test(log) && !isDenied) return reason
  const found = [...log.matchAll(addresses)]
  const port = found.map(([, , digits]) => Number(digits)).find((each) => closedPorts.includes(each))
  const note =
    port === undefined
      ? (isOwn && found.some(([, host]) => host) && ownLoopback) || (isDenied && found.length === 0 && servicesOwn())
      : servicesOwn(port)
  if (!note) return reason
  return { explanation: `${reason.explanation}; ${note}`, log: `${log}\n${note}` }
}

const ownLoopback =
  'a run has a network of its own: its loopback leads to what it has started itself, not to other programs of the machine'

function servicesOwn(port?: number): string {
  const which = port === undefined ? 'the port that it connects to' : `port ${port}`
  return `${which} is one of the service's own, which runs do not reach: use svc.processes, svc.storage and svc.datastore`
}
