-- Their predicates name what an end changes: with them each end writes to every index.
DROP INDEX executions_queued_old, executions_running_old, executions_held_old, executions_released_old, executions_unusual, executions_unusual_of_process;
