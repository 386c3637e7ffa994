{{- define "automation.kafkaEnv" -}}
{{- with .Values.kafka -}}
{{- if .brokers }}
KAFKA_BROKERS: {{ join "," .brokers | quote }}
KAFKA_SSL: {{ .ssl | quote }}
{{- end }}
{{- with .topic }}
KAFKA_TOPIC: {{ . | quote }}
{{- end }}
{{- with .saslMechanism }}
KAFKA_SASL_MECHANISM: {{ . | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- define "automation.objectStoreEnv" -}}
{{- with .Values.objectStore -}}
S3_ENDPOINT: {{ .endpoint | quote }}
S3_BUCKET: {{ required "objectStore.bucket must be set beside objectStore.endpoint" .bucket | quote }}
S3_REGION: {{ .region | quote }}
{{- with .publicEndpoint }}
S3_PUBLIC_ENDPOINT: {{ . | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- define "automation.clusterEnv" -}}
{{- $runners := .Values.runners -}}
SANDBOX_DRIVER: {{ .Values.sandbox.driver }}
SANDBOX_IMAGES: /etc/automation/images.json
SANDBOX_DAEMON_IMAGE: {{ include "automation.image" (list . "sandbox-daemon") }}
TEAM_MAX_SANDBOXES: {{ int .Values.sandbox.teamMax | quote }}
KUBERNETES_NAMESPACE: {{ include "automation.podNamespace" . }}
KUBERNETES_INSTANCE: {{ .Release.Name }}
KUBERNETES_OWNER: {{ include "automation.fullname" . }}-pods
{{- if eq $runners.kind "pool" }}
RUNNER_PODS_IMAGE: {{ include "automation.image" (list . "runner") }}
RUNNER_PODS_SPARE: {{ int $runners.pool.spare | quote }}
RUNNER_PODS_MAX: {{ int $runners.pool.max | quote }}
RUNNER_PODS_MAX_PER_TEAM: {{ int $runners.pool.maxPerTeam | quote }}
RUNNER_PODS_IDLE_MS: {{ int64 $runners.pool.idleMs | quote }}
RUNNER_PODS_CPU: {{ $runners.resources.requests.cpu | quote }}
RUNNER_PODS_MEMORY: {{ $runners.resources.limits.memory | quote }}
RUNNER_PODS_PULL_POLICY: {{ .Values.image.pullPolicy }}
{{- with .Values.image.pullSecrets }}
RUNNER_PODS_PULL_SECRETS: {{ range $index, $each := . }}{{ if $index }},{{ end }}{{ $each.name }}{{ end }}
{{- end }}
{{- with .Values.podSecurity.runtimeClassName }}
RUNNER_PODS_RUNTIME_CLASS: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
RUNNER_PODS_NODE_SELECTOR: {{ range $index, $name := keys . | sortAlpha }}{{ if $index }},{{ end }}{{ $name }}={{ get $.Values.nodeSelector $name }}{{ end }}
{{- end }}
RUNNER_PODS_SETTINGS: /etc/automation/runner-settings.json
RUNNER_PODS_SECRET: {{ (include "automation.secretOf" (list . "RUNNER_KEY") | fromYaml).name }}
{{- end }}
{{- end }}
