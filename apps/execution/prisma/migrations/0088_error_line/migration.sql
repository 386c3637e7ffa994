-- Of the source, where a failure came out of it.
ALTER TABLE executions ADD COLUMN error_line integer;
