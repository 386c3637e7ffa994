import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

export interface BatchMetrics {
  flushed(items: number, ms: number): void
  failed(): void
}

export interface Metrics {
  writer(name: string): BatchMetrics
  /** Runs by team slots taken and by rows that wait, over all replicas. */
  running: Gauge
  queued: Gauge
  /** Of these, those that a pool's runners are to take; and for how long the first of them has waited. */
  queue: Gauge<'pool'>
  queueOldest: Gauge<'pool'>
  runnersWanted: Gauge<'pool' | 'cell'>
  /** From the acceptance of a run to its start, where it waited for nothing of its team's: no limit, no packages. */
  startDelay: { observe(seconds: number): void }
  /** Slots that runners grant to this replica now. */
  credit: Gauge<'pool'>
  sessions: Gauge<'pool'>
  waiting: Gauge
  watching: Gauge
  ended: Counter<'status'>
  /** Bytes of the specs that are kept for the next runs. */
  specCache: Gauge
  /** Days from now on for which there are partitions. */
  partitionDays: Gauge
  /** How long the oldest run that is not marked has waited for it. */
  trackingLag: Gauge
  eventBacklog: Gauge<'consumer'>
  eventOldest: Gauge<'consumer'>
  /** Callbacks that are due or wait for their next try. */
  callbacksWaiting: Gauge
  /** By how much the first try is late that is due. */
  callbacksLate: Gauge
  /** Failed runs whose error handlers could not be started yet. */
  errorHandlersWaiting: Gauge
  /** Tries by how they went: delivered, failed (another one follows), given_up. */
  callbacks: Counter<'outcome'>
  /** Runs that have failed and have an error handler, by what became of that: started, rejected, given_up. */
  errorHandlers: Counter<'outcome'>
  /** Messages to other replicas: of ends, and of what is new of the queue. */
  hints: Counter
  /** Refused calls of webhooks: written, dropped. */
  webhookRefusals: Counter<'outcome'>
}

/** The metrics of execution, in the registry of the process; all that is there names the cell, where that has a name. */
export function executionMetrics(registry: Registry, cell = ''): Metrics {
  if (cell !== '') registry.setDefaultLabels({ cell })
  const registers = [registry]
  const size = new Histogram({
    name: 'execution_flush_items',
    help: 'Items written by one statement of a batch writer',
    labelNames: ['writer'],
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
    registers,
  })
  const seconds = new Histogram({
    name: 'execution_flush_seconds',
    help: 'Time that one statement of a batch writer took',
    labelNames: ['writer'],
    buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
    registers,
  })
  const failures = new Counter({
    name: 'execution_flush_failures_total',
    help: 'Statements of a batch writer that failed',
    labelNames: ['writer'],
    registers,
  })
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers })
  const labelled = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Gauge({ name, help, labelNames, registers })
  return {
    writer: (writer) => {
      const sizes = size.labels(writer)
      const times = seconds.labels(writer)
      return {
        flushed: (items, ms) => {
          sizes.observe(items)
          times.observe(ms / 1000)
        },
        failed: () => failures.inc({ writer }),
      }
    },
    running: gauge('execution_running', 'Runs that hold a slot of their team'),
    queued: gauge('execution_queued', 'Runs that wait in the queue'),
    queue: labelled('execution_queue', 'Runs that wait for a runner of a pool, up to 10,000', 'pool'),
    queueOldest: labelled(
      'execution_queue_oldest_seconds',
      'Seconds that the oldest run of a queue has waited for a runner',
      'pool',
    ),
    runnersWanted: labelled('execution_runners_wanted', 'Runners for what runs and waits in a pool', 'pool', 'cell'),
    startDelay: new Histogram({
      name: 'execution_start_delay_seconds',
      help: 'Time from the acceptance of a run to its start, where neither its packages nor the limit of its team held it',
      buckets: [0.01, 0.05, 0.1, 0.5, 1, 2, 5, 15, 60, 300],
      registers,
    }),
    credit: labelled('execution_credit', 'Slots that runners grant to this replica', 'pool'),
    sessions: labelled('execution_runner_streams', 'Runners connected to this replica', 'pool'),
    waiting: gauge('execution_sync_callers', 'Callers that wait here for the end of a run'),
    watching: gauge('execution_watchers', 'Live streams that follow executions here'),
    ended: new Counter({
      name: 'execution_ended_total',
      help: 'Runs ended through this replica',
      labelNames: ['status'],
      registers,
    }),
    specCache: gauge('execution_spec_cache_bytes', 'Sources, modules and variables that are kept for the next runs'),
    partitionDays: gauge('execution_partition_days', 'Days ahead for which there are partitions; alert below 2'),
    trackingLag: gauge(
      'execution_tracking_lag_seconds',
      'Age of the oldest lifecycle event that is not in the index of unfinished runs yet',
    ),
    eventBacklog: labelled(
      'execution_event_backlog',
      'Lifecycle events that a consumer has not handled; of `kafka`: that are not published',
      'consumer',
    ),
    eventOldest: labelled(
      'execution_event_oldest_seconds',
      'Age of the oldest lifecycle event that a consumer has not handled; of `kafka`: that is not published',
      'consumer',
    ),
    callbacksWaiting: gauge('execution_callbacks_waiting', 'Callbacks that are not delivered yet'),
    callbacksLate: gauge(
      'execution_callbacks_late_seconds',
      'Seconds by which the oldest callback that is due is late',
    ),
    errorHandlersWaiting: gauge(
      'execution_error_handlers_waiting',
      'Failed runs whose error handlers could not be started yet',
    ),
    callbacks: new Counter({
      name: 'execution_callback_tries_total',
      help: 'Tries to deliver a callback from here: delivered, failed (another one follows), given_up',
      labelNames: ['outcome'],
      registers,
    }),
    errorHandlers: new Counter({
      name: 'execution_error_handlers_total',
      help: 'Error handlers run from here: started, rejected, given_up (process not found, or no answer of the catalog)',
      labelNames: ['outcome'],
      registers,
    }),
    hints: new Counter({
      name: 'execution_hints_total',
      help: 'Messages from here to other replicas: which runs have ended, what is new of the queue',
      registers,
    }),
    webhookRefusals: new Counter({
      name: 'execution_webhook_refusals_total',
      help: 'Refused calls of webhooks: written, dropped (beyond what is kept of them, or the database was away)',
      labelNames: ['outcome'],
      registers,
    }),
  }
}
