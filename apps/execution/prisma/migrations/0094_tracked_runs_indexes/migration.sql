-- What is read goes on meanwhile; what is written waits.
CREATE INDEX executions_queued ON executions (team, pool, id) WHERE tracked AND session_id IS NULL;
CREATE INDEX executions_held ON executions (team, process_id, id) WHERE tracked AND session_id IS NULL AND held;
CREATE INDEX executions_running ON executions (team, session_id) WHERE tracked AND session_id IS NOT NULL;
CREATE INDEX executions_released ON executions (released_at) WHERE released_at IS NOT NULL;
-- The rare ends, from which lists of them are read.
CREATE INDEX timeline_events_unusual ON timeline_events (team, status, execution_id) WHERE status IN (6, 7, 8);
CREATE INDEX timeline_events_unusual_of_process ON timeline_events (team, process_id, status, execution_id) WHERE status IN (6, 7, 8);
