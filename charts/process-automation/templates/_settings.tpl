{{- define "automation.kafkaEnv" -}}
{{- with .Values.kafka -}}
{{- if .brokers }}
- { name: KAFKA_BROKERS, value: {{ join "," .brokers | quote }} }
- { name: KAFKA_SSL, value: {{ .ssl | quote }} }
{{- end }}
{{- with .topic }}
- { name: KAFKA_TOPIC, value: {{ . | quote }} }
{{- end }}
{{- with .saslMechanism }}
- { name: KAFKA_SASL_MECHANISM, value: {{ . | quote }} }
{{- end }}
{{- end }}
{{- end }}

{{- define "automation.clusterEnv" -}}
{{- $runners := .Values.runners -}}
- { name: SANDBOX_DRIVER, value: {{ .Values.sandbox.driver }} }
- { name: SANDBOX_IMAGES, value: /etc/automation/images.json }
- { name: SANDBOX_DAEMON_IMAGE, value: {{ include "automation.image" (list . "sandbox-daemon") }} }
- { name: TEAM_MAX_SANDBOXES, value: {{ int .Values.sandbox.teamMax | quote }} }
- { name: KUBERNETES_NAMESPACE, value: {{ include "automation.podNamespace" . }} }
- { name: KUBERNETES_INSTANCE, value: {{ .Release.Name }} }
- { name: KUBERNETES_OWNER, value: {{ include "automation.fullname" . }}-pods }
{{- if eq $runners.kind "pool" }}
- { name: RUNNER_PODS_IMAGE, value: {{ include "automation.image" (list . "runner") }} }
- { name: RUNNER_PODS_SPARE, value: {{ int $runners.pool.spare | quote }} }
- { name: RUNNER_PODS_MAX, value: {{ int $runners.pool.max | quote }} }
- { name: RUNNER_PODS_MAX_PER_TEAM, value: {{ int $runners.pool.maxPerTeam | quote }} }
- { name: RUNNER_PODS_IDLE_MS, value: {{ int64 $runners.pool.idleMs | quote }} }
- { name: RUNNER_PODS_CPU, value: {{ $runners.resources.limits.cpu | quote }} }
- { name: RUNNER_PODS_MEMORY, value: {{ $runners.resources.limits.memory | quote }} }
- { name: RUNNER_PODS_SECRET, value: {{ (include "automation.secretOf" (list . "RUNNER_KEY") | fromYaml).name }} }
{{- end }}
{{- end }}
