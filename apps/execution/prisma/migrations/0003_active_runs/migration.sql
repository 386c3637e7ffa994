-- Led by the team, so that the lists of a team's queued and running executions are found by them, too.
DROP INDEX executions_queued;
DROP INDEX executions_running;
CREATE INDEX executions_queued ON executions (team, pool, id) WHERE status = 2;
CREATE INDEX executions_running ON executions (team, session_id) WHERE status = 4;
