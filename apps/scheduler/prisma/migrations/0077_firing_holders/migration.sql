ALTER TABLE firings
  -- The replica that looks at it, which renews due_at as long as it does.
  ADD COLUMN holder uuid,
  -- A run may have been started for it, and nobody has heard.
  ADD COLUMN asked boolean NOT NULL DEFAULT false,
  -- Its schedule was paused while somebody looked at it: no run is started for it any more.
  ADD COLUMN given_up boolean NOT NULL DEFAULT false;
