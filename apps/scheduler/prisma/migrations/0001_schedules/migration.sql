-- Due times are the database's: whatever the clocks of the replicas say, they all wait for the same instant.

CREATE TABLE team_zones (
  team text PRIMARY KEY,
  -- IANA name.
  zone_id text NOT NULL,
  -- The team's, at which it was set; what comes with an older one is old news.
  revision bigint NOT NULL
);

CREATE TABLE processes (
  id uuid PRIMARY KEY,
  team text NOT NULL,
  name text NOT NULL,
  revision bigint NOT NULL,
  deleted_at timestamptz
);

CREATE TABLE schedules (
  -- Holds the time of creation, in ms.
  id uuid PRIMARY KEY,
  team text NOT NULL REFERENCES team_zones,
  process_id uuid NOT NULL REFERENCES processes,
  -- Rises with every change that moves next_at, so that a replica that read an older one changes nothing.
  revision bigint NOT NULL DEFAULT 1,
  cron text,
  date_time timestamptz,
  allow_concurrent boolean NOT NULL,
  paused boolean NOT NULL DEFAULT false,
  -- The next nominal time; none while it is paused, and where nothing comes any more.
  next_at timestamptz,
  -- What each run gets.
  tag text NOT NULL,
  parameters bytea NOT NULL,
  comment text,
  agent_pool text,
  callback_url text,
  timeout_ms integer,
  fresh_process boolean NOT NULL,
  -- Which version the tag named when it was last looked up.
  version_id uuid,
  -- The run of its last firing.
  last_execution_id uuid,
  created_by text NOT NULL,
  initiated_by text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_by text,
  updated_at timestamptz,
  CHECK ((cron IS NULL) <> (date_time IS NULL)),
  CHECK (NOT paused OR next_at IS NULL)
);

CREATE INDEX schedules_next ON schedules (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX schedules_of_team ON schedules (team, id);
CREATE INDEX schedules_of_process ON schedules (process_id);

CREATE TABLE firings (
  schedule_id uuid NOT NULL REFERENCES schedules ON DELETE CASCADE,
  nominal_at timestamptz NOT NULL,
  -- 1 due, 2 waits for the run before it, 3 started, 4 skipped.
  state smallint NOT NULL CHECK (state BETWEEN 1 AND 4),
  -- While it is open: when somebody is to look at it next. Whoever does sets it to when that counts as given up.
  due_at timestamptz,
  -- Why it was skipped, or not started yet.
  explanation text,
  execution_id uuid,
  decided_at timestamptz,
  PRIMARY KEY (schedule_id, nominal_at),
  CHECK ((state < 3) = (due_at IS NOT NULL)),
  CHECK ((state < 3) = (decided_at IS NULL)),
  CHECK ((state = 3) = (execution_id IS NOT NULL))
);

CREATE INDEX firings_open ON firings (due_at) WHERE state < 3;
CREATE INDEX firings_decided ON firings (decided_at) WHERE state > 2;
