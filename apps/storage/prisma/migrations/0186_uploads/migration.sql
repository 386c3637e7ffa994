-- Uploads in parts. The blobs of parts have the empty name, which no object has.
CREATE TABLE uploads (
  id uuid PRIMARY KEY,
  team text NOT NULL,
  -- Of the object that it becomes.
  name text COLLATE "C" NOT NULL,
  content_type text NOT NULL,
  -- As it was declared.
  size bigint,
  part_size bigint NOT NULL,
  -- What its parts have together.
  received bigint NOT NULL DEFAULT 0 CHECK (received >= 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  -- The blob that its parts are written to; it is completed by who writes that, as long as it is being written.
  assembly uuid,
  -- From here on: of the object that it became.
  completed_at timestamptz,
  object_size bigint,
  object_md5 bytea,
  object_created_at timestamptz
);

CREATE INDEX uploads_of_team ON uploads (team, id);
CREATE INDEX uploads_expiring ON uploads (expires_at);

CREATE TABLE upload_parts (
  upload_id uuid NOT NULL REFERENCES uploads,
  number integer NOT NULL CHECK (number BETWEEN 1 AND 10000),
  blob_id uuid NOT NULL UNIQUE REFERENCES blobs,
  size bigint NOT NULL,
  md5 bytea NOT NULL,
  PRIMARY KEY (upload_id, number)
);

-- A blob that is removed is looked for in all that may refer to it; uploads remove thousands at once.
CREATE INDEX objects_by_blob ON objects (blob_id);
CREATE INDEX package_sets_by_blob ON package_sets (blob_id);
