-- For filters of lists. A run that is started over REST or by a webhook, of the current source, is in none of them. Partitions
-- that are there get them later, one by one and without holding up runs; those to come have them from the start.
CREATE INDEX executions_children ON ONLY executions (parent_id, id) WHERE parent_id IS NOT NULL;
CREATE INDEX executions_of_schedule ON ONLY executions (team, schedule_id, id) WHERE schedule_id IS NOT NULL;
CREATE INDEX executions_of_version ON ONLY executions (team, version_id, id) WHERE version_id IS NOT NULL;
-- Error handlers, reruns, forms and trials.
CREATE INDEX executions_rare ON ONLY executions (team, id) WHERE trial OR rerun_of IS NOT NULL OR origin IN (5, 7);
