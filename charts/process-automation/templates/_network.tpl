{{/* Peers: the public internet, and the private ranges that are allowed. */}}
{{- define "automation.publicInternet" -}}
- ipBlock: { cidr: 0.0.0.0/0, except: {{ toJson .Values.networkPolicy.closedRanges }} }
- ipBlock: { cidr: "::/0", except: {{ toJson .Values.networkPolicy.closedRangesV6 }} }
{{- range .Values.egressAllow }}
- ipBlock: { cidr: {{ contains "/" . | ternary . (printf "%s/%s" . (contains ":" . | ternary "128" "32")) | quote }} }
{{- end }}
{{- end }}

{{/*
A rule that lets out to the port of a URL, wherever its host is; where that is a Service of the cluster, to its namespace, as what
it leads to may have any port. A variable is a host of any kind. Takes (list root url).
*/}}
{{- define "automation.toPortOf" -}}
{{- $url := urlParse (index . 1) -}}
{{- $host := regexReplaceAll ":[0-9]+$" $url.host "" -}}
{{- if or (not (regexMatch "[.$:]" $host)) (regexMatch "[.]svc([.]|$)" $host) -}}
{{- $labels := splitList "." $host }}
to: [{ namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: {{ gt (len $labels) 1 | ternary (index (append $labels "") 1) (index . 0).Release.Namespace }} } } }]
{{- else -}}
{{- $port := regexFind ":[0-9]+$" $url.host | trimPrefix ":" | default (eq $url.scheme "http" | ternary "80" "443") -}}
ports: [{ port: {{ $port }}, protocol: TCP }]
{{- end }}
{{- end }}
