-- A blob is a content in the object store; its row is there before the first byte is, and goes after the last.

CREATE TABLE usage (
  team text PRIMARY KEY,
  -- What the team's blobs count together.
  bytes bigint NOT NULL CHECK (bytes >= 0)
);

CREATE TABLE blobs (
  -- Holds the time of creation, in ms.
  id uuid PRIMARY KEY,
  team text NOT NULL,
  -- Of the object that it is, was or is to be the content of.
  name text COLLATE "C" NOT NULL,
  -- 1 being written, 2 the content of its object, 3 to be removed.
  state smallint NOT NULL CHECK (state BETWEEN 1 AND 3),
  -- Part of usage.bytes: what is reserved while it is written, its size later, 0 when it counts no more.
  counted bigint NOT NULL CHECK (counted >= 0),
  -- While it is written: when its writer counts as gone. To be removed: not before.
  due_at timestamptz,
  -- Links to this very content are out until then.
  linked_until timestamptz,
  CHECK ((state = 2) = (due_at IS NULL))
);

CREATE INDEX blobs_due ON blobs (due_at) WHERE state <> 2;
CREATE INDEX blobs_of_object ON blobs (team, name);

CREATE TABLE objects (
  team text NOT NULL,
  name text COLLATE "C" NOT NULL,
  blob_id uuid NOT NULL REFERENCES blobs,
  size bigint NOT NULL,
  md5 bytea NOT NULL,
  content_type text NOT NULL,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- Of files that came with a webhook; they are in no list.
  expires_at timestamptz,
  PRIMARY KEY (team, name)
);

CREATE INDEX objects_expiring ON objects (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE datastore (
  team text NOT NULL,
  key text COLLATE "C" NOT NULL,
  -- JSON text.
  value text NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (team, key)
);
