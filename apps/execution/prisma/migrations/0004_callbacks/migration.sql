-- Callbacks of runs that have ended: one row a run, kept after delivery so that a repeated event makes no second one.
CREATE TABLE callbacks (
  execution_id uuid PRIMARY KEY,
  -- Number of the terminal event.
  sequence integer NOT NULL,
  team text NOT NULL,
  -- Of the address: receivers are served apart from each other. The address itself stays with the execution.
  origin text NOT NULL,
  tries integer NOT NULL DEFAULT 0,
  -- While a try is at work: when another may begin.
  next_try_at timestamptz NOT NULL DEFAULT now(),
  -- Delivered or given up.
  done_at timestamptz
);
CREATE INDEX callbacks_due ON callbacks (team, next_try_at) WHERE done_at IS NULL;
CREATE INDEX callbacks_done ON callbacks (done_at) WHERE done_at IS NOT NULL;
