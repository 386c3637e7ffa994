#!/bin/sh
# admin …: the operator's commands, with the addresses and the key of the service whose image this is.
exec node /app/apps/admin/src/main.ts "$@"
