-- Words in lists are looked for among the names that processes had, which are few, and in the rows that have a comment.

CREATE TABLE process_names (
  team text NOT NULL,
  process_id uuid NOT NULL,
  process_name text NOT NULL,
  PRIMARY KEY (team, process_id, process_name)
);
INSERT INTO process_names SELECT DISTINCT team, process_id, process_name FROM executions;

CREATE INDEX executions_commented ON executions (team, id) WHERE comment IS NOT NULL;
