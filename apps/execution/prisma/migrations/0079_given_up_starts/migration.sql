-- Without an execution: nothing is started under this key any more.
ALTER TABLE start_keys ALTER COLUMN execution_id DROP NOT NULL;
