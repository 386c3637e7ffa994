-- Of a runner with the key of one pod: that pod. What it was to one session it is to the next.
ALTER TABLE sessions ADD COLUMN pod_id uuid;
-- One that lives, so that two never become two teams'.
CREATE UNIQUE INDEX sessions_living_pods ON sessions (pod_id) WHERE ended_at IS NULL;
CREATE INDEX sessions_pods ON sessions (pod_id) WHERE pod_id IS NOT NULL;
