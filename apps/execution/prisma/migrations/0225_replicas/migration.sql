-- The replicas that are there: how they find each other. A row whose time is over is of one that is gone.
CREATE TABLE replicas (
  id uuid PRIMARY KEY,
  address text NOT NULL,
  stopping boolean NOT NULL,
  expires_at timestamptz NOT NULL
);
