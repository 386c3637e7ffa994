-- Teams that were removed while access tokens of theirs were out; a slug is named by its SHA-256 alone.
CREATE TABLE removed_teams (
  digest bytea PRIMARY KEY,
  -- By then the last of those tokens has ended.
  tokens_until timestamptz NOT NULL
);
