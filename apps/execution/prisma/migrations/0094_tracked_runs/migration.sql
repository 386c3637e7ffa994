-- An end changes no column that an index knows, so that the row stays on its page and no index hears of it. `tracked` is set
-- while a run waits, not where it is made RUNNING, and again where it still runs a moment later.
ALTER TABLE executions
  ADD COLUMN tracked boolean NOT NULL DEFAULT false,
  -- While it is CREATED: since when it may have a place.
  ADD COLUMN released_at timestamptz;
-- In two statements, for which there are indexes of old.
UPDATE executions SET tracked = true, released_at = CASE WHEN status = 1 AND NOT held THEN updated_at END WHERE status IN (1, 2);
UPDATE executions SET tracked = true WHERE status = 4;

-- They serve until the new ones are there, which are made in a transaction of their own: nobody can read during this one.
ALTER INDEX executions_queued RENAME TO executions_queued_old;
ALTER INDEX executions_running RENAME TO executions_running_old;
ALTER INDEX executions_held RENAME TO executions_held_old;
ALTER INDEX executions_released RENAME TO executions_released_old;

-- One row, with the numbers of two snapshots. Of the runs with events that the first saw, which are those below `below` but
-- for those of transactions that were `open`, all that have not ended are tracked. What the next one saw is looked at next.
CREATE TABLE tracking (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  version bigint NOT NULL DEFAULT 0,
  below xid8 NOT NULL,
  open xid8[] NOT NULL DEFAULT '{}',
  next xid8 NOT NULL,
  next_open xid8[] NOT NULL DEFAULT '{}',
  -- When `next` was taken.
  at timestamptz NOT NULL
);
INSERT INTO tracking (below, next, at)
SELECT horizon, horizon, now()
  FROM (SELECT ((pg_snapshot_xmin(pg_current_snapshot())::text::bigint
                 + coalesce(substring(pg_get_expr(d.adbin, d.adrelid) FROM '\+ ''?(\d+)')::bigint, 0))::text)::xid8 AS horizon
          FROM pg_attribute a JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
         WHERE a.attrelid = 'timeline_events'::regclass AND a.attname = 'xid') AS numbers;

-- Fails where a statement has more rows than it may have, in place of leaving some out: as one that has taken too long.
CREATE FUNCTION within_limit(nth bigint, most bigint) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF nth > most THEN
    RAISE EXCEPTION 'more than % events are not marked yet', most USING ERRCODE = 'query_canceled';
  END IF;
  RETURN true;
END $$;

-- Room for the ends beside the rows that they replace; partitions made from now on have it from the start.
DO $$
DECLARE
  partition regclass;
BEGIN
  FOR partition IN
    SELECT c.oid FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'executions'::regclass AND right(c.relname, 8) >= to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')
  LOOP
    EXECUTE format('ALTER TABLE %s SET (fillfactor = 55)', partition);
  END LOOP;
END $$;
