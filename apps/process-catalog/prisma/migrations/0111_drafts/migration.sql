-- Sources that runs use in place of what is saved, each kept once, as long as executions of it are.
CREATE TABLE drafts (
  -- Made of the digest of all that follows up to the packages.
  id uuid PRIMARY KEY,
  team text COLLATE "C" NOT NULL,
  process_id uuid NOT NULL,
  language text NOT NULL,
  source_code text NOT NULL,
  parameters_schema text,
  imports text[] NOT NULL,
  -- JSON text; null where it has none of its own.
  dependencies text,
  -- Whose manifest has them.
  set_owner uuid,
  -- When a run of it was last started.
  needed_at timestamptz(3) NOT NULL
);
CREATE INDEX drafts_process_id ON drafts (team, process_id, needed_at);
CREATE INDEX drafts_set_owner ON drafts (set_owner) WHERE set_owner IS NOT NULL;
CREATE INDEX drafts_needed_at ON drafts (needed_at);

-- What runs find by an id alone, and nobody else.
CREATE VIEW kept_versions AS
  SELECT id, process_id, language, source_code, parameters_schema, imports, NULL::text AS dependencies, NULL::uuid AS set_owner
  FROM deleted_versions
  UNION ALL
  SELECT id, process_id, language, source_code, parameters_schema, imports, dependencies, set_owner FROM drafts;
