-- What is left of deleted versions for runs of them that are repeated. No list, tag or alias finds them.
CREATE TABLE deleted_versions (
  id uuid PRIMARY KEY,
  team text COLLATE "C" NOT NULL,
  process_id uuid NOT NULL,
  language text NOT NULL,
  source_code text NOT NULL,
  parameters_schema text,
  imports text[],
  -- When it was deleted, or when a run of it was last repeated.
  needed_at timestamptz(3) NOT NULL
);
CREATE INDEX deleted_versions_process_id ON deleted_versions (process_id);
CREATE INDEX deleted_versions_needed_at ON deleted_versions (needed_at);
