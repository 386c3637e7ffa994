-- Processes of code that somebody has used without removing them: nobody else's use removes them either.
CREATE TABLE kept_code_processes (
  process_id uuid PRIMARY KEY
);
