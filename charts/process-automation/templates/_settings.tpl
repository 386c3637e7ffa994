{{- define "automation.kafkaEnv" -}}
{{- if .Values.trial.enabled }}
KAFKA_BROKERS: {{ printf "%s-trial-kafka.%s.svc:9092" (include "automation.fullname" .) .Release.Namespace | quote }}
{{- end }}
{{- with .Values.kafka -}}
{{- if .brokers }}
KAFKA_BROKERS: {{ join "," .brokers | quote }}
{{- end }}
{{- with .topic }}
KAFKA_TOPIC: {{ . | quote }}
{{- end }}
{{- if .existingSecret }}
KAFKA_CONFIG_FILE: {{ printf "/run/secrets/kafka/%s" .key | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- define "automation.objectStoreEnv" -}}
{{- if .Values.trial.enabled }}
S3_ENDPOINT: {{ printf "http://%s-trial-s3.%s.svc:9000" (include "automation.fullname" .) .Release.Namespace | quote }}
S3_BUCKET: automation
{{- else }}
{{- with .Values.objectStore }}
S3_ENDPOINT: {{ .endpoint | quote }}
S3_BUCKET: {{ required "objectStore.bucket must be set beside objectStore.endpoint" .bucket | quote }}
S3_REGION: {{ .region | quote }}
{{- with .publicEndpoint }}
S3_PUBLIC_ENDPOINT: {{ . | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "automation.clusterEnv" -}}
SANDBOX_DRIVER: {{ .Values.sandbox.driver }}
SANDBOX_IMAGES: /etc/automation/images.json
TEAM_MAX_SANDBOXES: {{ int .Values.sandbox.teamMax | quote }}
KUBERNETES_PODS: /etc/automation/pods.json
{{- end }}

{{/* The ConfigMap of authorities in the namespace of runner pods; empty where none is known there. */}}
{{- define "automation.runnerAuthorities" -}}
{{- $own := eq (include "automation.podNamespace" .) .Release.Namespace }}
{{- .Values.certificateAuthorities.runnersConfigMap | default (ternary .Values.certificateAuthorities.existingConfigMap "" $own) }}
{{- end }}

{{/* Nodes and metadata of pods that are made on demand, of what is said of them. */}}
{{- define "automation.madePods" -}}
{{- $made := dict }}{{- $metadata := dict }}
{{- with include "automation.nodes" . | fromYaml }}{{ $_ := set $made "placement" . }}{{ end }}
{{- with .podLabels }}{{ $_ := set $metadata "labels" . }}{{ end }}
{{- with .podAnnotations }}{{ $_ := set $metadata "annotations" . }}{{ end }}
{{- with $metadata }}{{ $_ := set $made "metadata" . }}{{ end }}
{{- toJson $made }}
{{- end }}

{{- define "automation.runnerPods" -}}
{{- $runners := .Values.runners -}}
{{- $volumes := list }}
{{- $mounts := list }}
{{- $settings := dict }}
{{- with .Values.egressAllow }}{{ $_ := set $settings "EGRESS_ALLOW" (join "," .) }}{{ end }}
{{- with include "automation.runnerAuthorities" . }}
{{- $_ := set $settings "NODE_EXTRA_CA_CERTS" (printf "/etc/automation-authorities/%s" $.Values.certificateAuthorities.key) }}
{{- $volumes = append $volumes (dict "name" "authorities" "configMap" (dict "name" .)) }}
{{- $mounts = append $mounts (dict "name" "authorities" "mountPath" "/etc/automation-authorities") }}
{{- end }}
{{- range $name, $value := mergeOverwrite $settings (deepCopy .Values.settings) (deepCopy $runners.env) }}
{{- $_ := set $settings $name (ternary (printf "%v" (int64 $value)) (toString $value) (kindIs "float64" $value)) }}
{{- end }}
{{- $said := include "automation.codeSaid" (list . $runners) | fromJsonArray | include "automation.saidOfPods" | fromJson }}
{{- range $said.extraEnv }}{{ $_ := unset $settings .name }}{{ end }}
{{- $_ := set $settings "RUNNER_SLOTS" (int $runners.slots | toString) }}
{{- if gt (int $runners.pool.spare) (int $runners.pool.max) }}{{ fail (printf "runners.pool.spare: of at most runners.pool.max (%d) runners so many cannot be kept ready" (int $runners.pool.max)) }}{{ end }}
{{- $pods := dict
  "image" (include "automation.image" (list . "runner"))
  "pullPolicy" .Values.image.pullPolicy
  "spare" (int $runners.pool.spare)
  "max" (int $runners.pool.max)
  "maxPerTeam" (int $runners.pool.maxPerTeam)
  "idleMs" (int64 $runners.pool.idleMs)
  "startTimeoutMs" (int64 $runners.pool.startTimeoutMs)
  "tmpMb" (int $runners.pool.tmpMb)
  "packagesMb" (int $runners.pool.packagesMb)
  "cpu" ($runners.resources.requests.cpu | default "" | toString)
  "memoryRequest" ($runners.resources.requests.memory | default $runners.resources.limits.memory | default "" | toString)
  "memory" ($runners.resources.limits.memory | default "" | toString)
  "settings" $settings }}
{{- with $runners.resources.limits.cpu }}{{ $_ := set $pods "cpuLimit" (toString .) }}{{ end }}
{{- $resources := dict }}
{{- range $kind, $amounts := $runners.resources }}
{{- $others := dict }}{{ range $name, $amount := omit $amounts "cpu" "memory" }}{{ $_ := set $others $name (toString $amount) }}{{ end }}
{{- with $others }}{{ $_ := set $resources $kind . }}{{ end }}
{{- end }}
{{- with $resources }}{{ $_ := set $pods "resources" . }}{{ end }}
{{- with $volumes }}{{ $_ := set $pods "volumes" . }}{{ end }}
{{- with $said.extraEnv }}{{ $_ := set $pods "variables" . }}{{ end }}
{{- $pods = merge $pods (include "automation.madePods" $said | fromJson) }}
{{- with $mounts }}{{ $_ := set $pods "volumeMounts" . }}{{ end }}
{{- with $runners.existingSecret }}{{ $_ := set $pods "secret" (dict "name" . "settings" $runners.secrets) }}{{ end }}
{{- with .Values.podSecurity.runtimeClassName }}{{ $_ := set $pods "runtimeClassName" . }}{{ end }}
{{- if .Values.internalTls.secrets }}{{ $_ := set $pods "tlsSecret" (required "internalTls.secrets.runner must be set beside the others" .Values.internalTls.secrets.runner) }}{{ end }}
{{- toJson $pods }}
{{- end }}

{{- define "automation.pods" -}}
{{- $pods := dict
  "namespace" (include "automation.podNamespace" .)
  "instance" .Release.Name
  "owner" (printf "%s-pods" (include "automation.fullname" .)) }}
{{- with int64 .Values.podSecurity.runAsUser }}{{ if ne . 1000 }}{{ $_ := set $pods "runAsUser" . }}{{ end }}{{ end }}
{{- if not .Values.podSecurity.fixedIds }}{{ $_ := set $pods "fixedIds" false }}{{ end }}
{{- $secrets := list }}
{{- range .Values.image.pullSecrets }}{{ $secrets = append $secrets .name }}{{ end }}
{{- with $secrets }}{{ $_ := set $pods "pullSecrets" . }}{{ end }}
{{- $pods = merge $pods (include "automation.codeSaid" (list .) | fromJsonArray | include "automation.saidOfPods" | fromJson | include "automation.madePods" | fromJson) }}
{{- if eq .Values.runners.kind "pool" }}
{{- $runners := include "automation.runnerPods" . | fromJson }}
{{- range $key := list "placement" "metadata" }}{{ if deepEqual (get $runners $key) (get $pods $key) }}{{ $runners = omit $runners $key }}{{ end }}{{ end }}
{{- $_ := set $pods "runners" $runners }}
{{- end }}
{{- toPrettyJson $pods }}
{{- end }}
