{{/* The servers of a trial, by their component: YAML. `writable` are folders that the image writes to, `folders` those that must be there. */}}
{{- define "automation.trialServers" -}}
trial-postgres:
  image: {{ .Values.trial.postgres.image }}
  port: 5432
  # More connections than the services ask for together.
  args: [postgres, -c, max_connections=400]
  env:
    POSTGRES_USER: automation
    POSTGRES_DB: automation
    POSTGRES_PASSWORD_FILE: /run/secrets/automation/password
    PGDATA: /data/postgres
  password: true
  writable: [/var/run/postgresql]
  callers: [process-catalog, execution, scheduler, storage, sandbox]
  resources: { requests: { cpu: 100m, memory: 256Mi }, limits: { memory: 1Gi } }
trial-s3:
  image: {{ .Values.trial.s3.image }}
  port: 9000
  args: [--port, ":9000", posix, --sidecar, /data/metadata, /data/objects]
  # This server takes its key from its environment alone.
  secretEnv: { ROOT_ACCESS_KEY: S3_ACCESS_KEY, ROOT_SECRET_KEY: S3_SECRET_KEY }
  # A folder there is a bucket.
  folders: [/data/metadata, /data/objects/automation]
  callers: [storage]
  resources: { requests: { cpu: 50m, memory: 64Mi }, limits: { memory: 512Mi } }
trial-kafka:
  image: {{ .Values.trial.kafka.image }}
  port: 9092
  command: [sh, -c]
  args:
    - /opt/kafka/bin/kafka-storage.sh format --ignore-formatted --cluster-id=automationAtrialAkafkA --config=/etc/automation/server.properties &&
      exec /opt/kafka/bin/kafka-server-start.sh /etc/automation/server.properties
  env: { LOG_DIR: /tmp/logs, KAFKA_HEAP_OPTS: -Xms256m -Xmx512m }
  config: true
  callers: [execution]
  resources: { requests: { cpu: 100m, memory: 512Mi }, limits: { memory: 1Gi } }
{{- end }}
