-- Failed runs whose error handlers could not be started when the event came.
CREATE TABLE late_error_handlers (
  execution_id uuid PRIMARY KEY,
  team text NOT NULL,
  tries integer NOT NULL DEFAULT 1,
  -- While a try is at work: when another may begin.
  next_try_at timestamptz NOT NULL,
  -- Since when the answer is a fault, and not that something is away.
  faulty_from timestamptz
);
CREATE INDEX late_error_handlers_due ON late_error_handlers (team, next_try_at);
