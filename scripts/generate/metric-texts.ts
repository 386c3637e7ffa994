/** Metrics that are told about together: of one table row. */
interface MetricText {
  names: string[]
  labels?: string[]
  text: string
}

/** What each metric of a service says. `npm run generate` refuses one that is missing here, and one that no code has. */
export const metricGroups: { title: string; metrics: MetricText[] }[] = [
  {
    title: 'every service',
    metrics: [
      {
        names: ['grpc_calls_open'],
        labels: ['service', 'method'],
        text: 'calls from other processes that are not answered yet, and open streams; always none where all services are one process',
      },
      {
        names: ['database_connections'],
        labels: ['schema', 'pool', 'state'],
        text: 'connections of each pool: `used`, `idle`, and `max`, the most that there may be',
      },
      {
        names: ['database_waiting'],
        labels: ['schema', 'pool'],
        text: 'statements that wait for a connection; they fail after some seconds',
      },
    ],
  },
  {
    title: 'gateway',
    metrics: [
      {
        names: ['gateway_request_duration_seconds'],
        labels: ['method', 'route', 'status'],
        text: 'time from the head of a request to the end of its answer; unusual methods are `OTHER`, unusual statuses and those of public ports of sandboxes a class such as `4xx`',
      },
      {
        names: ['gateway_failures_total'],
        labels: ['route', 'code'],
        text: 'requests that were refused by a fault of the system, with the code of the answer: neither the caller nor process code has a part in it, nor a limit',
      },
      { names: ['gateway_streams'], text: 'live streams that are open' },
      {
        names: ['gateway_body_bytes', 'gateway_connections'],
        text: 'bytes that request bodies in flight hold of the memory that they may take together, 128 MiB, or four times `BODY_MAX_BYTES`; open connections, of 10,000 or half of the files that the process may open',
      },
      {
        names: ['gateway_sandbox_traffic_total'],
        labels: ['kind', 'outcome'],
        text: 'gRPC calls and WebSocket connections for sandboxes that have ended',
      },
      {
        names: ['gateway_sandbox_traffic_open'],
        labels: ['kind'],
        text: 'gRPC calls and WebSocket connections for sandboxes that are open',
      },
    ],
  },
  {
    title: 'process-catalog',
    metrics: [
      {
        names: ['catalog_secrets_on_older_keys'],
        labels: ['kind'],
        text: 'stored secrets that are encrypted with another key than the first one in `ENCRYPTION_KEY`; counted while they are encrypted anew, and every ten minutes; all',
      },
      {
        names: ['catalog_audit_partition_months'],
        text: 'months from now for which there are partitions of audit records; alert below 1',
      },
      {
        names: ['catalog_exchange_records_total'],
        labels: ['outcome'],
        text: 'audit records of exchanges of API tokens: `written`, `dropped` (beyond what is kept of them a minute, or the database was away)',
      },
      {
        names: ['catalog_installs_waiting', 'catalog_installs_oldest_seconds'],
        text: 'installations of dependencies that wait or go on; seconds since the oldest of them was asked for, or was begun; all',
      },
    ],
  },
  {
    title: 'storage, sandbox, execution, scheduler',
    metrics: [
      {
        names: ['audit_outbox_records', 'audit_outbox_oldest_seconds'],
        labels: ['service'],
        text: 'audit records that are not in the catalog yet; age of the oldest; all',
      },
    ],
  },
  {
    title: 'execution',
    metrics: [
      {
        names: ['execution_running', 'execution_queued'],
        text: 'runs that run, and runs that wait; all',
      },
      {
        names: ['execution_queue', 'execution_queue_oldest_seconds'],
        labels: ['pool'],
        text: 'runs that wait for a runner, counted up to 10,000; seconds that the oldest of them has waited. Runs that wait for the installation of their dependencies, and those of suspended teams, do not count; all',
      },
      {
        names: ['execution_runners_wanted'],
        labels: ['pool', 'cell'],
        text: 'runners that a pool of a cell (the first one has no name) should have for what runs and waits in it, by team where each of them serves one; what autoscalers go by; told by one replica',
      },
      { names: ['execution_ended_total'], labels: ['status'], text: 'runs that have ended' },
      {
        names: ['execution_sync_callers', 'execution_watchers'],
        text: 'callers that wait for the end of a run, live streams that follow one',
      },
      {
        names: ['execution_spec_cache_bytes'],
        text: 'bytes of sources, modules and variables that are kept in memory for the next runs, up to 128 MiB',
      },
      {
        names: ['execution_start_delay_seconds'],
        text: 'time from the acceptance of a run to its start. Runs that waited for their packages or at the limit of their team (`TEAM_MAX_RUNNING`) do not count',
      },
      {
        names: ['execution_credit', 'execution_runner_streams'],
        labels: ['pool'],
        text: 'free slots that runners offer; runners that are connected',
      },
      {
        names: ['execution_event_backlog'],
        labels: ['consumer'],
        text: 'lifecycle events that a consumer has not handled yet: `kafka` has not published them, `audit` has not recorded them; all',
      },
      {
        names: ['execution_event_oldest_seconds'],
        labels: ['consumer'],
        text: 'age of the oldest such event. With Kafka only `kafka` and `audit` have one, as other consumers read from the topic; all',
      },
      {
        names: ['execution_callbacks_waiting', 'execution_callbacks_late_seconds'],
        text: 'callbacks that are not delivered; seconds by which the oldest try that is due is late; all',
      },
      {
        names: ['execution_error_handlers_waiting'],
        text: 'failed runs whose error handlers could not be started yet, and are tried again; all',
      },
      {
        names: ['execution_error_handlers_total'],
        labels: ['outcome'],
        text: 'failed runs that have an error handler, by what became of the handler: `started`, `rejected`, `given_up` (the process was not found, or the catalog did not answer)',
      },
      {
        names: ['execution_hints_total'],
        text: 'messages from one replica to another: which of its runs have ended, what is new of the queue. Next to none while each team has its replica and that has slots',
      },
      {
        names: ['execution_webhook_refusals_total'],
        labels: ['outcome'],
        text: 'refused calls of webhooks for the lists of deliveries: `written`, `dropped` (more than 100 a minute of a process, 1,000 of a team or 3,000 in all, or the database was away)',
      },
      {
        names: ['execution_callback_tries_total'],
        labels: ['outcome'],
        text: '`delivered`, `failed` (another try follows), `given_up`',
      },
      {
        names: ['execution_tracking_lag_seconds'],
        text: 'age of the oldest lifecycle event that is not in the index of unfinished runs yet, usually a second or two; all',
      },
      {
        names: ['execution_partition_days'],
        text: 'days from now for which there are partitions of runs; alert below 2',
      },
      {
        names: ['execution_flush_items', 'execution_flush_seconds', 'execution_flush_failures_total'],
        labels: ['writer'],
        text: 'rows, time and failures of the statements that write rows in batches',
      },
    ],
  },
  {
    title: 'runner',
    metrics: [
      { names: ['runner_slots', 'runner_runs'], text: 'runs that the runner can run at a time; runs that are running' },
      { names: ['runner_run_seconds'], labels: ['end'], text: 'time from the assignment of a run to its end' },
      {
        names: ['runner_kept_results'],
        text: 'results that the runner keeps because no replica of execution has confirmed to have stored them',
      },
      { names: ['runner_connected_replicas'], text: 'replicas of execution that the runner is connected to' },
      {
        names: ['runner_children'],
        labels: ['state'],
        text: 'child processes: `starting`, `spare` (made ahead, for no process yet), `idle`, `running`, `checking`, `ending`',
      },
      {
        names: ['runner_python_imports'],
        labels: ['how'],
        text: 'Python children of process versions that import packages. `shared`: runs share what was imported once; any other value is the reason why each run imports by itself: `output`, `threads`, `processes`, `files`, `open files or connections`, `timers`, `shared memory`, `a random seed`, `a module of the team`, `an error`, `its end`',
      },
      { names: ['runner_children_memory_bytes'], text: 'memory of all child processes, as last measured' },
      {
        names: ['runner_isolation'],
        labels: ['level', 'network'],
        text: 'the isolation level of process code, and its network',
      },
      {
        names: ['runner_package_sets_total'],
        labels: ['how'],
        text: 'sets of packages `fetched`, `installed`, `shared`, or `refused` because they were damaged',
      },
      {
        names: ['runner_package_set_bytes_total'],
        labels: ['how'],
        text: 'packed bytes of those that were fetched or shared',
      },
    ],
  },
  {
    title: 'storage',
    metrics: [
      {
        names: ['storage_bytes_total'],
        labels: ['direction'],
        text: 'bytes that were written to the object store (`in`) and read from it (`out`), with sets of packages',
      },
      {
        names: ['storage_objects', 'storage_used_bytes'],
        text: 'objects of all teams; bytes that count towards their limits, with sets of packages and unfinished uploads; counted each minute; all',
      },
      {
        names: ['storage_removals_waiting', 'storage_removals_late_seconds'],
        text: 'contents of deleted objects that are still to be removed; seconds since the oldest of them was due; counted each minute; all',
      },
      {
        names: ['storage_refused_total'],
        labels: ['code'],
        text: 'uploads and values that were too large: `storage_full`, `datastore_full` (with all that the team has), `object_too_large`, `package_set_too_large`, `value_too_large` (alone)',
      },
      {
        names: ['storage_call_seconds'],
        labels: ['call', 'outcome'],
        text: 'time from a call to its end, for uploads and downloads to the last byte. `outcome` is `ok`, `cancelled` (by the caller) or the kind of the failure',
      },
      {
        names: ['storage_package_sets_removed_total', 'storage_package_set_bytes_removed_total'],
        labels: ['why'],
        text: 'sets of packages that were removed, and their packed bytes: `unused`, `damaged`',
      },
    ],
  },
  {
    title: 'scheduler',
    metrics: [
      {
        names: ['scheduler_firings_total'],
        labels: ['outcome'],
        text: 'times at which a schedule was due, by what became of each: `started`, `missed`, `overlapping`, `refused`, `paused`',
      },
      {
        names: ['scheduler_firings_open', 'scheduler_firings_oldest_seconds'],
        text: 'firings that have neither started a run nor been skipped; seconds since the oldest of them was due. Firings that wait for an earlier run of their schedule do not count as late; all',
      },
      {
        names: ['scheduler_late_seconds'],
        text: 'time by which a run starts after its schedule says, where it waits for no earlier run',
      },
    ],
  },
  {
    title: 'sandbox',
    metrics: [
      {
        names: ['sandbox_active', 'sandbox_starting_oldest_seconds'],
        labels: ['status'],
        text: 'sandboxes that have not ended: `starting`, `running`; seconds since the oldest sandbox that is starting was asked for; all',
      },
      {
        names: ['sandbox_starts_total'],
        labels: ['outcome'],
        text: 'sandboxes that have `started`, and that `failed` to',
      },
      {
        names: ['sandbox_spares'],
        labels: ['image', 'state'],
        text: 'sandboxes on a cluster that are `ready` before they are asked for, and how many are `wanted`; all',
      },
      {
        names: ['sandbox_held'],
        labels: ['driver'],
        text: 'sandboxes that the driver has, with those that are starting; on a cluster: all',
      },
      {
        names: ['sandbox_secrets_on_older_keys'],
        labels: ['kind'],
        text: 'the same as `catalog_secrets_on_older_keys`, for the keys of sandboxes; all',
      },
      {
        names: ['runner_pods', 'runner_pods_waiting_teams'],
        labels: ['state'],
        text: 'runner pods of a cluster; teams with runs that wait for a slot',
      },
      {
        names: ['runner_pods_made_total', 'runner_pods_failed_total'],
        text: 'pods that were made; that could not be made, or ended before execution knew them',
      },
    ],
  },
]

/** When each alert of charts/process-automation/observability/rules.yaml comes; all of them have a text here. */
export const alertTexts: Record<string, string> = {
  AutomationAvailabilityBudgetFast:
    'calls fail by faults of the system so often that 0.1 % in 30 days is used up within days',
  AutomationAvailabilityBudgetSlow: 'for 3 days more than 0.1 % of calls have failed by faults of the system',
  AutomationLatencyBudgetFast: 'calls take longer than 0.5 s so often that 1 % in 30 days is used up within days',
  AutomationLatencyBudgetSlow: 'for 3 days more than 1 % of calls have taken longer than 0.5 s',
  AutomationStartDelayBudgetFast: 'runs start later than 5 s so often that 1 % in 30 days is used up within days',
  AutomationStartDelayBudgetSlow: 'for 3 days more than 1 % of runs have started later than 5 s',
  AutomationNotMeasured: 'execution, also of one cell, or gateway report nothing for 5 min',
  AutomationRequestsFail: 'more than 5 % of requests fail by a fault of the system for 5 min',
  AutomationEventLoopSlow: 'a process is late by more than half a second for 10 min',
  AutomationDatabaseBusy: 'a pool has had no free connection for 10 min',
  AutomationWritesFail: 'writing runs to the database has failed for 5 min',
  AutomationPartitionsEnd:
    'there are partitions for less than 2 more days of runs, or for no further month of audit records',
  AutomationNoRunner: 'runs wait in a pool that has no runner for 3 min',
  AutomationRunsWait: 'the oldest run of a queue has waited for more than 5 min, for 10 min on end',
  AutomationRunnerPodsFail: 'more than 3 runner pods failed in 30 min',
  AutomationInstallsStuck: 'an installation of dependencies takes longer than 15 min',
  AutomationTrackingBehind: 'the index of unfinished runs is 30 s behind, for 5 min on end',
  AutomationEventsStuck: 'a consumer has not handled an event for a minute, for 5 min on end',
  AutomationConsumerBehind: 'a consumer has more than 10,000 events to handle for 15 min',
  AutomationCallbacksLate: 'a callback has been due for 5 min, for 10 min on end',
  AutomationAuditStuck: 'an audit record has not reached the catalog for 5 min, for 5 min on end',
  AutomationFiringsLate: 'a firing of a schedule is late by a minute, for 5 min on end',
  AutomationStorageFails: 'more than 5 % of calls to storage fail for 5 min',
  AutomationRemovalsStuck: 'contents of deleted objects have waited an hour for their removal',
  AutomationSandboxesDoNotStart: 'more than 3 sandboxes could not be started in 30 min, and more than a tenth of all',
  AutomationNoSpareSandboxes: 'no sandbox of an image is ready for 15 min, though some are wanted',
}
