/** Answer headers that act beyond their own answer: on a whole origin or host, or on what a proxy in front serves. */
const ORIGIN_WIDE = new Set([
  'accept-ch',
  'accept-ch-lifetime',
  'activate-storage-access',
  'alt-svc',
  'clear-site-data',
  'critical-ch',
  'expect-ct',
  'login-status',
  'nel',
  'origin-agent-cluster',
  'public-key-pins',
  'public-key-pins-report-only',
  'report-to',
  'service-worker-allowed',
  'set-cookie2',
  'set-login',
  'shared-storage-write',
  'strict-transport-security',
  'use-as-dictionary',
  'x-accel-redirect',
  'x-sendfile',
])

const ORIGIN_WIDE_FAMILIES = /^(?:attribution-reporting-|service-worker-|sec-session-|secure-session-)/

/** Whether a header, by its name in lower case, acts beyond its own answer. Who shares an origin may not send it. */
export function isOriginWide(name: string): boolean {
  return ORIGIN_WIDE.has(name) || ORIGIN_WIDE_FAMILIES.test(name)
}
