{{- define "automation.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else -}}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}{{- end -}}
{{- end }}

{{/* Of an object, with those of the operator, of which these count before those of all objects; takes (list root these). */}}
{{- define "automation.labelsWith" -}}
{{- with index . 0 -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/part-of: process-automation
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}
{{- with merge dict (index . 1 | default dict) (index . 0).Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "automation.labels" -}}
{{ include "automation.labelsWith" (list . dict) }}
{{- end }}

{{/* Of pods of the chart; takes (list root component more). */}}
{{- define "automation.podLabels" -}}
{{ include "automation.labelsWith" (list (index . 0) (index . 2)) }}
app.kubernetes.io/component: {{ index . 1 }}
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

{{/* The namespace that the chart makes for pods with user code where none is named. */}}
{{- define "automation.madeNamespace" -}}
{{- $release := eq .Release.Name .Release.Namespace | ternary .Release.Name (printf "%s-%s" .Release.Namespace .Release.Name) -}}
{{ printf "%s-user-code" ($release | trunc 53 | trimSuffix "-") }}
{{- end }}

{{- define "automation.podNamespace" -}}
{{ .Values.sandbox.namespace | default (include "automation.madeNamespace" .) }}
{{- end }}

{{/* The headless Service whose name leads to each ready pod of a service; takes (list root name). */}}
{{- define "automation.replicas" -}}
{{ printf "%s-%s-replicas" (include "automation.fullname" (index . 0)) (index . 1) | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* A service as SERVICE_ADDRESSES names it; takes (list root name called). */}}
{{- define "automation.address" -}}
{{- $root := index . 0 -}}{{- $name := index . 1 -}}
{{ printf "%s=%s.%s.svc:%d" (index . 2) (include "automation.replicas" (list $root $name)) $root.Release.Namespace (int (index $root.Values.services $name "ports" "grpc")) }}
{{- end }}

{{/* The execution of a further cell, as its own cell calls it or with its name; takes (list root cell called). */}}
{{- define "automation.cellAddress" -}}
{{- $root := index . 0 -}}
{{ printf "%s=%s.%s.svc:%d" (index . 2) (include "automation.replicas" (list $root (printf "execution-%s" (index . 1)))) $root.Release.Namespace (int $root.Values.services.execution.ports.grpc) }}
{{- end }}

{{/* Components of a kind, with those of further cells, as JSON; takes (list root kind). */}}
{{- define "automation.inCells" -}}
{{- $kind := index . 1 -}}{{- $all := list $kind -}}
{{- range $cell, $_ := (index . 0).Values.cells }}{{ $all = append $all (printf "%s-%s" $kind $cell) }}{{ end -}}
{{ toJson $all }}
{{- end }}

{{/* The component of runners of a further pool. */}}
{{- define "automation.runnersOf" -}}
{{ printf "runner-pool-%s" . }}
{{- end }}

{{/* A map as `name=value,…`. */}}
{{- define "automation.pairs" -}}
{{- $pairs := list }}{{ range $name, $value := . }}{{ $pairs = append $pairs (printf "%s=%s" $name $value) }}{{ end -}}
{{ join "," $pairs }}
{{- end }}

{{/* The pools that runs may ask for, where there are further ones: those that settings name, and these. Takes (list root env). */}}
{{- define "automation.agentPools" -}}
{{- $names := list }}
{{- range $name, $pool := (index . 0).Values.runners.pools }}{{ if dig "shared" true $pool }}{{ $names = append $names $name }}{{ end }}{{ end }}
{{- if $names }}{{ concat (splitList "," ((index . 1).AGENT_POOLS | default "default")) $names | uniq | join "," }}{{ end }}
{{- end }}

{{- define "automation.runnerAddresses" -}}
{{ include "automation.address" (list . "storage" "storage") }},{{ include "automation.address" (list . "execution" "execution") }}
{{- end }}

{{/* Which Secret has a setting of a component, and under which key: YAML of {name, key}. Takes (list root setting component). */}}
{{- define "automation.secretOf" -}}
{{- $root := index . 0 -}}{{- $setting := index . 1 -}}{{- $component := index . 2 -}}{{- $values := $root.Values -}}{{- $full := include "automation.fullname" $root -}}
{{- if and (eq $setting "DATABASE_URL") (hasPrefix "execution-" $component) -}}
{{- $cell := index $values.cells (trimPrefix "execution-" $component) -}}
{name: {{ $cell.existingSecret }}, key: {{ $cell.key | default "url" }}}
{{- else if and $values.trial.enabled (or (eq $setting "DATABASE_URL") (hasPrefix "S3_" $setting)) -}}
{name: {{ $full }}-trial, key: {{ eq $setting "DATABASE_URL" | ternary "url" $setting }}}
{{- else if eq $setting "DATABASE_URL" -}}
{name: {{ $values.database.existingSecret | default (printf "%s-database" $full) }}, key: {{ index $values.database.keys $component | default $values.database.key }}}
{{- else if eq $setting "RUNNER_KEY" -}}
{name: {{ $values.keys.existingRunnerSecret | default (printf "%s-runner" $full) }}, key: RUNNER_KEY}
{{- else if and (hasPrefix "runner" $component) (has $setting $values.runners.secrets) -}}
{name: {{ $values.runners.existingSecret }}, key: {{ $setting }}}
{{- else if and (eq $setting "INTERNAL_KEY") (eq $component "gateway") -}}
{name: {{ $values.keys.existingGatewaySecret | default $values.keys.existingSecret | default (printf "%s-gateway" $full) }}, key: INTERNAL_KEY}
{{- else if eq $setting "BOOTSTRAP_API_TOKEN" -}}
{name: {{ $values.bootstrap.existingSecret | default (printf "%s-bootstrap" $full) }}, key: token}
{{- else if eq $setting "OIDC_CLIENT_SECRET" -}}
{name: {{ $values.gateway.oidc.existingSecret }}, key: {{ $setting }}}
{{- else if eq $setting "OTEL_EXPORTER_OTLP_HEADERS" -}}
{name: {{ $values.tracing.existingSecret }}, key: {{ $values.tracing.key }}}
{{- else if hasPrefix "S3_" $setting -}}
{name: {{ $values.objectStore.existingSecret | default (printf "%s-objects" $full) }}, key: {{ $setting }}}
{{- else -}}
{name: {{ $values.keys.existingSecret | default (printf "%s-keys" $full) }}, key: {{ $setting }}}
{{- end -}}
{{- end }}

{{/* YAML of the services that are deployed. */}}
{{- define "automation.services" -}}
{{- range $name, $service := .Values.services }}
{{- if or (not $service.objectStore) $.Values.objectStore.endpoint $.Values.trial.enabled }}
{{ dict $name $service | toYaml }}
{{- end }}
{{- end }}
{{- end }}
