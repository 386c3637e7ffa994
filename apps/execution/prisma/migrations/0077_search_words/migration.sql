-- Words in comments are found by their trigrams. Where the server lacks the extension, or may not have it, all comments are read.
DO $$
DECLARE
  operators text;
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  SELECT format('%I.gin_trgm_ops', n.nspname) INTO operators
    FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm';
  EXECUTE format('CREATE INDEX executions_comment_words ON executions USING gin (comment %s) WHERE comment IS NOT NULL', operators);
EXCEPTION WHEN undefined_file OR feature_not_supported OR insufficient_privilege THEN
  RAISE WARNING 'pg_trgm can''t be had, words in comments are found more slowly: %', SQLERRM;
END $$;

CREATE INDEX executions_unusual_of_process ON executions (team, process_id, status, id) WHERE status IN (6, 7, 8);
