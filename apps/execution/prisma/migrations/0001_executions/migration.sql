-- Executions, their timeline and their logs are partitioned by day on the UUIDv7 itself, so that an id alone prunes and
-- retention drops tables. The service makes the partitions. Statuses and languages are the numbers of the proto enums.

CREATE TABLE executions (
  -- Holds the time of creation, in ms.
  id uuid NOT NULL,
  team text NOT NULL,
  process_id uuid NOT NULL,
  process_name text NOT NULL,
  process_slug text NOT NULL,
  version_id uuid,
  schedule_id uuid,
  status smallint NOT NULL CHECK (status BETWEEN 1 AND 8),
  -- Number of the last timeline event.
  sequence integer NOT NULL,
  -- Rises with every hand-over; a result with another fence is refused.
  fence bigint NOT NULL,
  pool text NOT NULL,
  -- The runner's session, from the first RUNNING on.
  session_id uuid,
  -- The replica that accepted the run and may have a caller waiting.
  replica_id uuid NOT NULL,
  -- Of a RUNNING run: 0 given back while it waits for another, 1 held, 2 wanted again.
  slot smallint NOT NULL,
  depth smallint NOT NULL,
  parent_id uuid,
  -- JSON text.
  parameters text NOT NULL,
  request text,
  comment text,
  return_value text,
  -- The value was delivered but not kept.
  transient boolean NOT NULL DEFAULT false,
  explanation text,
  timeout_ms integer NOT NULL,
  fresh_process boolean NOT NULL,
  callback_url text,
  initiated_by text,
  created_by text NOT NULL,
  updated_by text,
  ip text,
  started_at timestamptz,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (id)
) PARTITION BY RANGE (id);

CREATE INDEX executions_team ON executions (team, id);
CREATE INDEX executions_process ON executions (team, process_id, id);
CREATE INDEX executions_queued ON executions (pool, team, id) WHERE status = 2;
CREATE INDEX executions_running ON executions (session_id) WHERE status = 4;
-- The rare statuses; the others are found soon on the way through executions_team.
CREATE INDEX executions_unusual ON executions (team, status, id) WHERE status IN (6, 7, 8);

-- The row is the outbox row as well.
CREATE SEQUENCE timeline_positions;
CREATE TABLE timeline_events (
  execution_id uuid NOT NULL,
  sequence integer NOT NULL,
  status smallint NOT NULL,
  at timestamptz NOT NULL,
  explanation text,
  team text NOT NULL,
  process_id uuid NOT NULL,
  -- The transaction, and the order within: drawn after the status change holds its lock, so it rises per execution.
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  position bigint NOT NULL DEFAULT nextval('timeline_positions'),
  PRIMARY KEY (execution_id, sequence)
) PARTITION BY RANGE (execution_id);

CREATE INDEX timeline_events_outbox ON timeline_events (xid, position);

CREATE TABLE log_chunks (
  execution_id uuid NOT NULL,
  -- Number of the first entry, from 0.
  first integer NOT NULL,
  lines integer NOT NULL,
  -- JSON: [[microseconds, level, message], …]
  body text NOT NULL,
  PRIMARY KEY (execution_id, first)
) PARTITION BY RANGE (execution_id);

-- One row a team, locked by every statement that gives or takes its slots.
CREATE TABLE team_slots (
  team text PRIMARY KEY,
  running integer NOT NULL DEFAULT 0,
  -- Runs that waited for another one and want their slot again; they come before new ones.
  wanted integer NOT NULL DEFAULT 0,
  queued integer NOT NULL DEFAULT 0
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0.1);

-- Whatever may be started only once: a key of a caller, a call of a run.
CREATE TABLE start_keys (
  team text NOT NULL,
  scope text NOT NULL,
  key text NOT NULL,
  execution_id uuid NOT NULL,
  body_hash bytea,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (team, scope, key)
);
CREATE INDEX start_keys_expiry ON start_keys (expires_at);

CREATE TABLE sessions (
  id uuid PRIMARY KEY,
  runner_name text NOT NULL,
  pool text NOT NULL,
  places integer NOT NULL,
  expires_at timestamptz NOT NULL,
  -- Set once: lost or said goodbye. The row stays for a day, so that a frozen runner that comes back is refused.
  ended_at timestamptz
);

-- Executions of these processes are hidden, killed, refused and removed in the background.
CREATE TABLE deleted_processes (
  team text NOT NULL,
  process_id uuid NOT NULL,
  deleted_at timestamptz NOT NULL DEFAULT now(),
  removed_at timestamptz,
  PRIMARY KEY (team, process_id)
);

-- How far each consumer of lifecycle events has got.
CREATE TABLE bus_cursors (
  consumer text PRIMARY KEY,
  window_from xid8 NOT NULL,
  window_to xid8 NOT NULL,
  position bigint NOT NULL
);
