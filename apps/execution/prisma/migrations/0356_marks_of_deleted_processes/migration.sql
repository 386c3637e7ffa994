-- Lists read which processes are hidden: a few, beside the marks of all that were ever deleted.
CREATE INDEX deleted_processes_unremoved ON deleted_processes (team, process_id) WHERE removed_at IS NULL;
CREATE INDEX deleted_processes_removed ON deleted_processes (removed_at) WHERE removed_at IS NOT NULL;
