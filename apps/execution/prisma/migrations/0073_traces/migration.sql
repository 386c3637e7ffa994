-- Of who started the run, in the form of W3C; none where there is no trace.
ALTER TABLE executions ADD COLUMN traceparent text;
