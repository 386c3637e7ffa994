-- The versions that an alias led to before. A replica that knows nothing of them leaves them as they are.
ALTER TABLE aliases ADD COLUMN previous_version_ids uuid[] NOT NULL DEFAULT '{}';
