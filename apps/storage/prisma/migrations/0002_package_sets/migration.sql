-- Sets of installed packages. Their blobs have the empty name, which no object has.
CREATE TABLE package_sets (
  team text NOT NULL,
  -- Of the install that made it.
  key uuid NOT NULL,
  -- Node or Python, platform and C library.
  runtime text COLLATE "C" NOT NULL,
  blob_id uuid NOT NULL REFERENCES blobs,
  size bigint NOT NULL,
  -- SHA-256.
  digest bytea NOT NULL,
  -- When it was last known to be in use.
  used_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (team, key, runtime)
);

CREATE INDEX package_sets_by_use ON package_sets (used_at);
