ALTER TABLE executions
  -- Of a run of a webhook's request that is repeated: when the request came. Else it is the time of creation.
  ADD COLUMN request_received_at timestamptz,
  -- The first 64 bits of a digest of the source and the modules that it runs.
  ADD COLUMN source_mark bigint;
