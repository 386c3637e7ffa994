-- Which runs are those of error handlers: their start keys say so.
CREATE INDEX start_keys_error_handlers ON start_keys (execution_id) WHERE scope = 'error handler';
