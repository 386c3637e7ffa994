import type { RunWebhook } from '@automation/contract/catalog/v1/resolve'
import type { WebhookCall } from '@automation/contract/execution/v1/execution'

/**
 * The request (JSON text) as process code sees it: with its `authorization` header where the webhook has no credentials,
 * for then the header is meant for the process.
 */
export function shownRequest({ request, authorization }: WebhookCall, webhook: RunWebhook | undefined): Uint8Array {
  if (authorization === undefined || request.length === 0 || hasCredentials(webhook)) return request
  const seen = JSON.parse(Buffer.from(request).toString()) as { headers?: Record<string, unknown> }
  seen.headers = { ...seen.headers, authorization }
  return Buffer.from(JSON.stringify(seen))
}

/** Whether only callers with a user name and a password may pass. */
export function hasCredentials(webhook: RunWebhook | undefined): boolean {
  return webhook?.username !== undefined || webhook?.passwordHash !== undefined
}
