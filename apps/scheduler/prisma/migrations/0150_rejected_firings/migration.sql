-- Its run could not be started, and is an execution that says why.
ALTER TABLE firings ADD COLUMN rejected boolean NOT NULL DEFAULT false;
