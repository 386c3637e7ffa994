-- A run that waits for packages is CREATED (1) until a runner takes it, or until it waits for a place as QUEUED (2).
DROP INDEX executions_queued;
DROP INDEX executions_held;
CREATE INDEX executions_queued ON executions (team, pool, id) WHERE status IN (1, 2);
CREATE INDEX executions_held ON executions (team, process_id, id) WHERE status IN (1, 2) AND held;
-- Those that may have places: few, and for a moment only. `updated_at` is the time of their release.
CREATE INDEX executions_released ON executions (id) WHERE status = 1 AND NOT held;
