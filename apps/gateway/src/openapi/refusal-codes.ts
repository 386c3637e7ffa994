import { OAUTH_ERRORS } from '../http/oauth-refusal.ts'
import type { RefusedCall } from './refusals.ts'

type Row = [calls: RegExp, status: number, ...codes: string[]]

/** The codes that refusals can have; every row that fits a call counts. */
const rows: readonly Row[] = [
  [/./, 400, 'malformed_request'],
  [/./, 417, 'expectation_failed'],
  [/./, 431, 'headers_too_large'],
  [/./, 500, 'internal_error'],
  [/./, 503, 'unavailable', 'stopping', 'too_many_connections'],
  [/./, 504, 'deadline_exceeded'],

  [/^POST \/rest\/(processes|modules)$/, 400, 'limit_reached'],
  [/^POST .*\/(versions|aliases|variables|schedule|storage\/objects)$|\/webhooks\//, 400, 'limit_reached'],
  [/^(POST|PATCH) \/rest\/processes(\/\{identifier\})?$/, 400, 'slug_taken'],
  [/^(POST|PATCH) .*\/modules(\/\{id\})?$/, 400, 'name_taken'],
  [/^POST .*\/versions$/, 400, 'tag_taken'],
  [/^(POST|PATCH) .*\/aliases/, 400, 'alias_taken'],
  [/^DELETE .*\/versions\/\{versionId\}$/, 400, 'version_in_use'],
  [/^DELETE .*\/aliases\/\{aliasId\}$/, 400, 'alias_in_use'],
  [/^(POST|PATCH) .*\/variables/, 400, 'key_taken'],
  [/^PATCH \/rest\/team$/, 400, 'parent_cycle', 'parent_not_granted'],
  [/\/(execute(-sync)?|rerun)$|\/webhooks\//, 400, 'invalid_parameters'],
  [/\/executions\/\{id\}\/kill$/, 400, 'execution_ended'],
  [/^POST \/rest\/sandboxes$/, 400, 'image_not_found'],
  [/^POST \/rest\/sandboxes\/\{sandboxId\}$/, 400, 'sandbox_ended'],
  [/^(PUT|POST|DELETE) \/rest\/dependencies\//, 400, 'installation_under_way'],
  [/^(POST|DELETE) \/rest\/dependencies\//, 400, 'nothing_staged'],
  [/\/schedules\/\{id\}\/pause$/, 400, 'schedule_paused'],
  [/\/schedules\/\{id\}\/resume$/, 400, 'schedule_active'],
  [/\/auth\/token$/, 400, 'api_token_missing', 'api_token_malformed', ...OAUTH_ERRORS],
  [/^POST \/webhooks\//, 400, 'too_many_files', 'too_many_fields'],
  [/^POST \/(rest\/storage\/objects$|webhooks\/)/, 400, 'too_many_parts'],

  [/\/auth\/token$/, 401, 'api_token_invalid', 'invalid_client'],
  [/\/webhooks\//, 401, 'webhook_credentials'],
  [/\/storage\/signed\//, 403, 'signed_url_invalid', 'signed_url_expired'],

  [/\{identifier\}/, 404, 'process_not_found'],
  [
    /\{versionId\}|^(GET|POST|PATCH) .*\/aliases|\/execute(-sync)?$|\/rerun$|\/schedule$|\/webhooks\//,
    404,
    'version_not_found',
  ],
  [/^PATCH \/rest\/(schedules\/|team$)/, 404, 'version_not_found', 'process_not_found'],
  [/\/rerun$/, 404, 'process_not_found'],
  [/\{aliasId\}/, 404, 'alias_not_found'],
  [/\/modules\/\{/, 404, 'module_not_found'],
  [/\/executions\/\{/, 404, 'execution_not_found'],
  [/\/schedules\/\{/, 404, 'schedule_not_found'],
  [/\/variables\/\{/, 404, 'variable_not_found'],
  [/\{sandboxId\}/, 404, 'sandbox_not_found'],
  [/\{filename\}|\/signed-urls$/, 404, 'object_not_found'],
  [/\/webhooks\//, 404, 'webhook_not_found'],

  [/\/modules\/\{id\}$/, 409, 'module_in_use'],
  [/\/execute(-sync)?$|\/webhooks\//, 409, 'idempotency_key_reused'],
  [/\/execute-sync$|\/webhooks\//, 409, 'result_not_kept'],
  [/\/storage\//, 412, 'precondition_failed'],
  [/\/execute(-sync)?$|\/schedule$|^PATCH \/rest\/schedules\/|\/webhooks\//, 413, 'parameters_too_large'],
  [/\/execute(-sync)?$|\/rerun$|\/webhooks\//, 413, 'run_too_large'],
  [/^POST \/(rest\/storage\/objects$|webhooks\/)/, 413, 'object_too_large', 'storage_full'],
  [/\/storage\//, 416, 'range_not_satisfiable'],

  [/\/execute-sync$|\/webhooks\//, 408, 'execution_timeout'],
  [/\/execute-sync$|\/webhooks\//, 429, 'execution_rejected'],
  [/\/execute-sync$|\/webhooks\//, 500, 'execution_failed', 'execution_killed'],
  [/\/webhooks\//, 429, 'too_many_attempts'],
  [/\/webhooks\//, 500, 'webhook_answer_invalid'],
  [/^POST \/rest\/sandboxes$/, 429, 'too_many_sandboxes'],
  [/\/events$/, 429, 'too_many_streams'],
]

const OF_TOKENS: Record<number, string[]> = {
  401: ['token_missing', 'token_invalid', 'token_expired'],
  403: ['forbidden'],
  404: ['team_not_found'],
}

const OF_BODIES: Record<number, string[]> = {
  400: ['invalid_input', 'invalid_json'],
  408: ['request_timeout'],
  413: ['body_too_large'],
  415: ['unsupported_media_type'],
  503: ['too_many_bodies'],
}

/** The codes that a refusal with this status can have. */
export function codesOf({ name, open, hasBody, statuses }: RefusedCall, status: number): string[] {
  const own = rows.flatMap(([calls, ofStatus, ...codes]) => (ofStatus === status && calls.test(name) ? codes : []))
  return [
    ...new Set([
      ...own,
      ...(status === 400 && statuses.includes(400) ? ['invalid_input'] : []),
      ...(open ? [] : (OF_TOKENS[status] ?? [])),
      ...(hasBody ? (OF_BODIES[status] ?? []) : []),
    ]),
  ].toSorted()
}
