#!/bin/sh
# gather.sh WORKSPACE INTO [MODULE…]: a workspace, ours that npm installed beside it, and what it installed for them, with its links
# as links. Node's compiled code is kept of the workspace's service, and of further modules.
set -eu
app=$1 into=$2
shift 2
mkdir -p "$into/node_modules"
cp -a package.json "$into"
cp -a node_modules/. "$into/node_modules"
for folder in "apps/$app" $(cd node_modules/@automation && for link in *; do realpath --relative-to=/source "$link"; done); do
  mkdir -p "$into/$(dirname "$folder")"
  cp -a "$folder" "$into/$(dirname "$folder")"
done
cd "$into/node_modules"
# Engines of other databases, and what only people and compilers read.
rm -rf .package-lock.json .bin
if [ -d @prisma/client ]; then
  rm -rf @prisma/client/generator-build
  find @prisma/client/runtime -type f ! -name client.js ! -name client.mjs ! -name 'query_compiler_fast_bg.postgresql.*' \
    ! -name package.json -delete
fi
find . -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.md' -o -name '*.markdown' \) \
  ! -iname 'licen*' -delete
find . -type d -empty -delete
# What Node makes of it before it runs, under the path and for the account of the service, which may only read it. By a fixed seed
# and in one thread two builds make the same; services read it without these options.
cd "$into"
mkdir compiled
chown 1000:1000 compiled
NODE_COMPILE_CACHE=$into/compiled setpriv --reuid=1000 --regid=1000 --clear-groups node --random-seed=1 --predictable --input-type=module --eval "
  for (const name of process.argv.slice(1)) await import(name)
  process.exit(0)
" @automation/service @automation/rpc/wire "$into/apps/$app/src/service.ts" "$@"
[ -n "$(ls compiled)" ]
chown -R 0:0 compiled
chmod -R a+rX compiled
