/** The script that publishes a release and signs its images and its chart; `digests` are those of the images by name. */
export function publishScript(version: string, digests: ReadonlyMap<string, string>): string {
  const images = [...digests].map(([name, digest]) => `publish ${name} ${digest}`)
  return `#!/bin/sh
# publish REGISTRY KEY: publishes release ${version} and signs it by the key of cosign in the file KEY (or a KMS).
# Wants skopeo, cosign, jq, helm, npm and twine, signed in. Run it once more where it was cut off before npm.
set -eu
[ $# = 2 ] || { sed -n 2,3p "$0" >&2; exit 2; }
registry=$1 key=$2
# The file is named from where this is called; a KMS has a scheme (awskms://…).
case $key in
  *://*) ;;
  *)
    [ -r "$key" ] || { echo "publish: there is no key in $key" >&2; exit 2; }
    key=$(realpath "$key")
    ;;
esac
cd "$(dirname "$0")"
sha256sum --check --quiet SHA256SUMS
jq .predicate provenance.json >provenance.predicate

publish() {
  skopeo copy --all --preserve-digests "oci:images:$1:${version}" "docker://$registry/process-automation-$1:${version}"
  image=$registry/process-automation-$1@$2
  cosign sign --yes --key "$key" --recursive "$image"
  cosign attest --yes --key "$key" --type slsaprovenance1 --predicate provenance.predicate "$image"
  cosign attest --yes --key "$key" --type cyclonedx --predicate "sbom/$1.cdx.json" "$image"
}

${images.join('\n')}
[ -e SHA256SUMS.sig ] || cosign sign-blob --yes --key "$key" --output-signature SHA256SUMS.sig SHA256SUMS
pushed=$(helm push process-automation-${version}.tgz "oci://$registry/charts" 2>&1) || { echo "$pushed" >&2; exit 1; }
digest=$(echo "$pushed" | sed -n 's/^Digest: //p')
cosign sign --yes --key "$key" "$registry/charts/process-automation@\${digest:?helm named no digest: $pushed}"
for tarball in packages/*.tgz; do npm publish --access public "./$tarball"; done
twine upload packages/*.whl
`
}
