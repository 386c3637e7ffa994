-- How many runs have started and ended, and how long they took: counted from the timeline in the background. Minutes are
-- kept for a week, hours as long as executions.
CREATE TABLE run_counts (
  team text NOT NULL,
  -- 1 a minute, 2 an hour, from `at` on.
  grain smallint NOT NULL,
  at timestamptz NOT NULL,
  process_id uuid NOT NULL,
  -- As the proto enum Origin counts; 0 where it is not known.
  origin smallint NOT NULL,
  -- 4 for those that have started, else how they have ended.
  status smallint NOT NULL,
  runs bigint NOT NULL,
  -- Of those that have ended: how long they ran together, and what their logs take.
  run_ms bigint NOT NULL,
  log_bytes bigint NOT NULL,
  -- What runners say that they took; memory as megabytes by milliseconds.
  cpu_ms bigint NOT NULL,
  memory_mb_ms bigint NOT NULL,
  -- How many of them ran how long, by quarters of powers of two of milliseconds.
  durations integer[] NOT NULL,
  PRIMARY KEY (team, grain, at, process_id, origin, status)
) WITH (fillfactor = 70);
CREATE INDEX run_counts_age ON run_counts (grain, at);

-- What the runner says that the run took, at its end.
ALTER TABLE executions ADD COLUMN cpu_ms integer, ADD COLUMN memory_mb integer;

-- The sums of the members at the same places.
CREATE FUNCTION add_counts(a integer[], b integer[]) RETURNS integer[] LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(array_agg(coalesce(x, 0) + coalesce(y, 0) ORDER BY n), '{}') FROM unnest(a, b) WITH ORDINALITY AS t(x, y, n)
$$;
