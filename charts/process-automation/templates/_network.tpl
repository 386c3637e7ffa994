{{/* Peers: the public internet, and the private ranges that are allowed. */}}
{{- define "automation.publicInternet" -}}
- ipBlock: { cidr: 0.0.0.0/0, except: {{ toJson .Values.networkPolicy.closedRanges }} }
- ipBlock: { cidr: "::/0", except: {{ toJson .Values.networkPolicy.closedRangesV6 }} }
{{- range .Values.egressAllow }}
- ipBlock: { cidr: {{ contains "/" . | ternary . (printf "%s/%s" . (contains ":" . | ternary "128" "32")) | quote }} }
{{- end }}
{{- end }}

{{/* A rule that lets out to the port of a URL, wherever its host is. */}}
{{- define "automation.toPortOf" -}}
{{- $url := urlParse . -}}
{{- $port := regexFind ":[0-9]+$" $url.host | trimPrefix ":" | default (eq $url.scheme "http" | ternary "80" "443") -}}
ports: [{ port: {{ $port }}, protocol: TCP }]
{{- end }}
