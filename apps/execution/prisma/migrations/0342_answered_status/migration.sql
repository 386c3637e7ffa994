-- The HTTP status that the caller of a webhook was answered, where it does not follow from the row.
ALTER TABLE executions ADD COLUMN answered_status smallint;
