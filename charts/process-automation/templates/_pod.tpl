{{/* Every pod of ours: the restricted level in full. */}}
{{- define "automation.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  {{- if .Values.podSecurity.fixedIds }}
  runAsUser: {{ .Values.podSecurity.runAsUser }}
  runAsGroup: {{ .Values.podSecurity.runAsUser }}
  fsGroup: {{ .Values.podSecurity.runAsUser }}
  {{- end }}
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "automation.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{/* Secrets are files: NAME_FILE for each, and the volume below. Takes (list root settings). */}}
{{- define "automation.secretEnv" -}}
{{- range index . 1 }}
- { name: {{ . }}_FILE, value: /run/secrets/automation/{{ . }} }
{{- end }}
{{- end }}

{{/* Takes (list root settings component). */}}
{{- define "automation.secretVolume" -}}
{{- $root := index . 0 -}}{{- $component := index . 2 -}}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
    {{- range index . 1 }}
    {{- $from := include "automation.secretOf" (list $root . $component) | fromYaml }}
      - secret: { name: {{ $from.name }}, items: [{ key: {{ $from.key | quote }}, path: {{ . }} }] }
    {{- end }}
{{- end }}

{{/* What all services are told of each other, as a map. */}}
{{- define "automation.sharedEnv" -}}
SERVICE_ADDRESSES: {{ list
  (include "automation.address" (list . "process-catalog" "catalog"))
  (include "automation.address" (list . "sandbox" "sandbox"))
  (include "automation.address" (list . "scheduler" "scheduler"))
  (include "automation.runnerAddresses" .) | join "," }}{{ range $cell, $_ := .Values.cells }},{{ include "automation.cellAddress" (list $ $cell (printf "execution@%s" $cell)) }}{{ end }}
INTERNAL_HOST: 0.0.0.0
PUBLIC_URL: {{ include "automation.publicUrl" . | quote }}
RUN_TIMEOUT_MS: {{ min 300000 (int64 .Values.runTimeoutMaxMs) | quote }}
RUN_TIMEOUT_MAX_MS: {{ int64 .Values.runTimeoutMaxMs | quote }}
{{- with .Values.egressAllow }}
EGRESS_ALLOW: {{ join "," . | quote }}
{{- end }}
{{- end }}

{{/* What is in a cell knows the execution of its own; takes (list root cell kind). */}}
{{- define "automation.addressesInCell" -}}
{{- $root := index . 0 -}}
{{- $addresses := list (include "automation.cellAddress" (list $root (index . 1) "execution")) (include "automation.address" (list $root "storage" "storage")) -}}
{{- if ne (index . 2) "runner" }}
{{- range $name, $called := dict "process-catalog" "catalog" "sandbox" "sandbox" "scheduler" "scheduler" }}
{{- $addresses = append $addresses (include "automation.address" (list $root $name $called)) }}
{{- end }}
{{- end -}}
{{ join "," $addresses }}
{{- end }}

{{/* A runner knows of execution, and of storage for what runs store. */}}
{{- define "automation.runnerEnv" -}}
SERVICE_ADDRESSES: {{ include "automation.runnerAddresses" . | quote }}
INTERNAL_HOST: 0.0.0.0
RUNNER_SLOTS: {{ int .Values.runners.slots | quote }}
{{- with .Values.egressAllow }}
EGRESS_ALLOW: {{ join "," . | quote }}
{{- end }}
{{- end }}

{{/* The first host of a list that is no wildcard; empty where there is none. */}}
{{- define "automation.firstHost" -}}
{{- range . }}{{ if not (hasPrefix "*" .) }}{{ . }}{{ break }}{{ end }}{{ end -}}
{{- end }}

{{- define "automation.ingressScheme" -}}
{{- ternary "https" "http" (not (empty .Values.ingress.tls)) -}}
{{- end }}

{{- define "automation.publicUrl" -}}
{{- $ofRoute := include "automation.firstHost" .Values.httpRoute.hostnames -}}
{{- if .Values.publicUrl -}}{{ .Values.publicUrl }}
{{- else if and .Values.ingress.enabled .Values.ingress.host -}}{{ include "automation.ingressScheme" . }}://{{ .Values.ingress.host }}
{{- else if and .Values.httpRoute.enabled $ofRoute -}}https://{{ $ofRoute }}
{{- else -}}http://{{ include "automation.fullname" . }}-gateway.{{ .Release.Namespace }}.svc:{{ .Values.services.gateway.ports.http }}
{{- end -}}
{{- end }}

{{/* Where browsers reach the console; empty where only a forwarded port leads there. */}}
{{- define "automation.consoleUrl" -}}
{{- $ofRoute := include "automation.firstHost" .Values.httpRoute.consoleHostnames -}}
{{- if .Values.consoleUrl -}}{{ .Values.consoleUrl }}
{{- else if and .Values.ingress.enabled .Values.ingress.consoleHost -}}{{ include "automation.ingressScheme" . }}://{{ .Values.ingress.consoleHost }}
{{- else if and .Values.httpRoute.enabled $ofRoute -}}https://{{ $ofRoute }}
{{- end -}}
{{- end }}

{{/* Where public ports of sandboxes and their gRPC are reached, by the hosts of the ingress or the routes. */}}
{{- define "automation.sandboxAddresses" -}}
{{- $host := "" }}{{- $scheme := "https" }}{{- $grpc := "" }}
{{- if .Values.httpRoute.enabled }}
{{- with .Values.httpRoute.sandboxHostnames }}{{ $host = first . }}{{ end }}
{{- $grpc = include "automation.firstHost" .Values.httpRoute.sandboxGrpcHostnames }}
{{- end }}
{{- if and .Values.ingress.enabled .Values.ingress.sandboxHost }}
{{- $host = .Values.ingress.sandboxHost }}
{{- $scheme = include "automation.ingressScheme" . }}
{{- end }}
{{- $urls := list }}
{{- with $host }}{{ $urls = append $urls (printf "public=%s://%s" $scheme (trimPrefix "*." .)) }}{{ end }}
{{- with $grpc }}{{ $urls = append $urls (printf "grpc=https://%s" .) }}{{ end }}
{{- with $urls }}
SANDBOX_URLS: {{ join "," . }}
{{- end }}
{{- if hasPrefix "*." $host }}
SANDBOX_PUBLIC_DOMAIN: {{ trimPrefix "*." $host }}
{{- end }}
{{- end }}

{{/* A map of settings as environment variables: each name once. */}}
{{- define "automation.mapEnv" -}}
{{- range $name, $value := . }}
- { name: {{ $name }}, value: {{ if kindIs "float64" $value }}{{ int64 $value | quote }}{{ else }}{{ $value | toString | quote }}{{ end }} }
{{- end }}
{{- end }}

{{/* Authorities that are trusted beside the public ones: (list root "env" | "mount" | "volume"); nothing where none are named. */}}
{{- define "automation.authorities" -}}
{{- $root := index . 0 -}}{{- $part := index . 1 -}}
{{- with $root.Values.certificateAuthorities }}
{{- if .existingConfigMap }}
{{- if eq $part "env" }}
- { name: NODE_EXTRA_CA_CERTS, value: {{ printf "/etc/automation-authorities/%s" .key | quote }} }
{{- else if eq $part "mount" }}
- { name: authorities, mountPath: /etc/automation-authorities, readOnly: true }
{{- else }}
- { name: authorities, configMap: { name: {{ .existingConfigMap }} } }
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Which nodes pods run on, of values with these four members. */}}
{{- define "automation.nodes" -}}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{/*
What several values say of the same pods, the most special first, as JSON: labels, annotations and variables of all of them, of which the
first of a name counts, and each of the others as the first has it that has any.
*/}}
{{- define "automation.saidOfPods" -}}
{{- $said := dict "podLabels" dict "podAnnotations" dict "extraEnv" list }}{{- $variables := dict }}
{{- range $values := . }}
{{- range $key := list "podLabels" "podAnnotations" }}{{ $_ := set $said $key (merge dict (get $said $key) (get $values $key | default dict)) }}{{ end }}
{{- $_ := set $said "podLabels" (merge $said.podLabels ($values.commonLabels | default dict)) }}
{{- range $key := list "annotations" "nodeSelector" "tolerations" "affinity" "priorityClassName" }}{{ $_ := set $said $key (coalesce (get $said $key) (get $values $key)) }}{{ end }}
{{- range $each := $values.extraEnv }}
{{- if not (hasKey $variables .name) }}{{ $_ := set $variables .name true }}{{ $_ := set $said "extraEnv" (append $said.extraEnv .) }}{{ end }}
{{- end }}
{{- end }}
{{- toJson $said }}
{{- end }}

{{/* What is said of pods with the code of users, the nodes of services where it has none; takes (list root more…), the most special first. */}}
{{- define "automation.codeSaid" -}}
{{- $values := (index . 0).Values -}}
{{- append (append (rest .) $values.userCode) (pick $values "commonLabels" "podLabels" "podAnnotations" "nodeSelector" "tolerations") | toJson }}
{{- end }}

{{/* Takes (list root component replicas nodes revision): the YAML that says which nodes, and the label that differs with each update. */}}
{{- define "automation.placement" -}}
{{- $root := index . 0 -}}
{{- index . 3 }}
{{- if and $root.Values.topologySpread.enabled (gt (int (index . 2)) 1) }}
topologySpreadConstraints:
  {{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    whenUnsatisfiable: ScheduleAnyway
    # Those of an update by themselves: what is to go counts no more.
    matchLabelKeys: [{{ index $ 4 }}]
    labelSelector:
      matchLabels: {{- include "automation.selector" (list $root (index $ 1)) | nindent 8 }}
  {{- end }}
{{- end }}
{{- end }}
