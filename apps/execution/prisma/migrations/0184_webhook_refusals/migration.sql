-- Of runs that calls of webhooks have started, what the lists of deliveries tell. Those from before are in none.
ALTER TABLE executions
  ADD COLUMN delivery_method text,
  -- Of the body.
  ADD COLUMN delivery_bytes bigint,
  -- The caller was answered when the run was stored, not when it ended.
  ADD COLUMN answered_at_once boolean;

-- Calls of webhooks that were refused before there was a run: the last 100 of each process.
CREATE TABLE webhook_refusals (
  -- Holds the time, in ms.
  id uuid NOT NULL,
  team text NOT NULL,
  process_id uuid NOT NULL,
  method text NOT NULL,
  bytes bigint NOT NULL,
  -- Of the failure.
  kind text NOT NULL,
  code text NOT NULL,
  reason text NOT NULL,
  PRIMARY KEY (team, process_id, id)
);
CREATE INDEX webhook_refusals_old ON webhook_refusals (id);
