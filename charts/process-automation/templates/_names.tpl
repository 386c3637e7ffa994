{{- define "automation.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else -}}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}{{- end -}}
{{- end }}

{{- define "automation.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/part-of: process-automation
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{/* What tells the pods of one component; takes (list root component). */}}
{{- define "automation.selector" -}}
app.kubernetes.io/part-of: process-automation
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* Takes (list root name). */}}
{{- define "automation.image" -}}
{{- $image := (index . 0).Values.image -}}
{{- with $image.registry }}{{ trimSuffix "/" . }}/{{ end }}{{ $image.prefix }}{{ index . 1 }}
{{- with get $image.digests (index . 1) }}@{{ . }}{{ else }}:{{ $image.tag | default (index . 0).Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "automation.podNamespace" -}}
{{ .Values.sandbox.namespace | default .Release.Namespace }}
{{- end }}

{{/* Storage, and each replica of execution by its own name, as whoever calls one must know all. */}}
{{- define "automation.runnerAddresses" -}}
{{- $service := .Values.services.execution -}}
{{- $name := printf "%s-execution" (include "automation.fullname" .) -}}
{{- $addresses := list (printf "storage=%s-storage.%s.svc:%d" (include "automation.fullname" .) .Release.Namespace (int .Values.services.storage.ports.grpc)) -}}
{{- range $index := until (int $service.replicas) -}}
{{- $addresses = append $addresses (printf "execution=%s-%d.%s-replicas.%s.svc:%d" $name $index $name $.Release.Namespace (int $service.ports.grpc)) -}}
{{- end -}}
{{ join "," $addresses }}
{{- end }}

{{/* Which Secret has a setting, and under which key: YAML of {name, key}. Takes (list root setting). */}}
{{- define "automation.secretOf" -}}
{{- $root := index . 0 -}}{{- $setting := index . 1 -}}{{- $values := $root.Values -}}{{- $full := include "automation.fullname" $root -}}
{{- if eq $setting "DATABASE_URL" -}}
{name: {{ $values.database.existingSecret | default (printf "%s-database" $full) }}, key: {{ $values.database.key }}}
{{- else if eq $setting "RUNNER_KEY" -}}
{name: {{ $values.keys.existingRunnerSecret | default (printf "%s-runner" $full) }}, key: RUNNER_KEY}
{{- else if eq $setting "BOOTSTRAP_API_TOKEN" -}}
{name: {{ $values.bootstrap.existingSecret | default (printf "%s-bootstrap" $full) }}, key: token}
{{- else if eq $setting "OIDC_CLIENT_SECRET" -}}
{name: {{ $values.gateway.oidc.existingSecret }}, key: {{ $setting }}}
{{- else if hasPrefix "S3_" $setting -}}
{name: {{ $values.objectStore.existingSecret | default (printf "%s-objects" $full) }}, key: {{ $setting }}}
{{- else -}}
{name: {{ $values.keys.existingSecret | default (printf "%s-keys" $full) }}, key: {{ $setting }}}
{{- end -}}
{{- end }}

{{/* YAML of the services that are deployed. */}}
{{- define "automation.services" -}}
{{- range $name, $service := .Values.services }}
{{- if or (not $service.objectStore) $.Values.objectStore.endpoint }}
{{ dict $name $service | toYaml }}
{{- end }}
{{- end }}
{{- end }}
