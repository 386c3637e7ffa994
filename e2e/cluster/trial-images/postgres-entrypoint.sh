#!/bin/bash
# Makes the data of a server in an empty PGDATA: POSTGRES_USER with the password in POSTGRES_PASSWORD_FILE, and POSTGRES_DB.
set -euo pipefail
bin=/opt/postgres/bin
# The server wants its user to have a name, whatever its number.
LD_PRELOAD=libnss_wrapper.so NSS_WRAPPER_PASSWD=$(mktemp) NSS_WRAPPER_GROUP=$(mktemp)
export LD_PRELOAD NSS_WRAPPER_PASSWD NSS_WRAPPER_GROUP
echo "postgres:x:$(id -u):$(id -g)::/:/bin/false" >"$NSS_WRAPPER_PASSWD"
echo "postgres:x:$(id -g):" >"$NSS_WRAPPER_GROUP"
if [[ ! -s $PGDATA/PG_VERSION ]]; then
  "$bin/initdb" -D "$PGDATA" -U "$POSTGRES_USER" -A scram-sha-256 --pwfile="$POSTGRES_PASSWORD_FILE" --encoding=UTF8 --locale=C.UTF-8
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  echo "listen_addresses = '*'" >>"$PGDATA/postgresql.conf"
  echo "unix_socket_directories = '/var/run/postgresql'" >>"$PGDATA/postgresql.conf"
  echo "CREATE DATABASE \"$POSTGRES_DB\"" | "$bin/postgres" --single -D "$PGDATA" postgres
fi
exec "$bin/$1" "${@:2}"
