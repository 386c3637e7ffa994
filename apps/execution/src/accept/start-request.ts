import type { Origin, RunSettings, WebhookCall } from '@automation/contract/execution/v1/execution'
import type { StartKey } from '../store/start-keys.ts'

/** A run that is asked for, and in whose name. */
export interface StartRequest {
  team: string
  identifier: string
  tag: string
  /** Of the record, where it is not `tag`. */
  shownTag?: string
  origin: Exclude<Origin, Origin.UNSPECIFIED>
  /** A run of what is not saved. */
  trial?: boolean
  parameters: Uint8Array
  comment?: string
  settings?: RunSettings
  webhook?: WebhookCall
  /** JSON text of the request, where a run of a webhook is run again. */
  request?: Uint8Array
  /** When that request came. */
  requestReceivedAt?: Date
  /** Of no account for webhooks: there it is the webhook's user name. */
  createdBy: string
  initiatedBy?: string
  ip?: string
  depth: number
  parentId?: string
  /** The execution that it repeats. */
  rerunOf?: string
  /** W3C: the trace that the run belongs to. */
  traceparent?: string
  /** The schedule whose run it is. */
  scheduleId?: string
  /** Nobody hears of a refusal, so what it can't be started with makes it REJECTED. With a key of its own scope. */
  isUnattended?: boolean
  /** So does a version that is gone. */
  needsNoVersion?: boolean
  /** Its parameters are texts alone, to be read by the schema of the process. */
  hasTexts?: boolean
  /** They must match the schema of the process, also where the team does not enforce it. */
  checksParameters?: boolean
  /** Its parameters are the service's own words, which no limit is for. */
  hasOwnParameters?: boolean
  /** Asked for by the catalog; nobody else starts an install. */
  isInstall?: boolean
  /** Absent scope: the process. A key with a scope of its own is hardly ever used twice. */
  key?: Omit<StartKey, 'scope'> & { scope?: string }
}
