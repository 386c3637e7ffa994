#!/bin/sh
# daemon.sh INTO: node with its own loader and libraries, so that it runs in any Linux image, whatever that has of its own, and the
# licences of the packages that are bundled in the daemon.
set -eu
into=$1
mkdir -p "$into/bin" "$into/lib"
cp "$(command -v node)" "$into/bin/node"
# Lines such as `libm.so.6 => /lib/… (0x…)` and the loader's own, `/lib64/ld-linux-x86-64.so.2 (0x…)`.
ldd "$into/bin/node" | sed -n 's#^.*[ \t]\(/[^ ]*\) (0x.*$#\1#p' | while read -r library; do cp -L "$library" "$into/lib/"; done
# Names are looked up by what the C library loads by itself.
cp -L /lib/*-linux-gnu/libnss_dns.so.2 /lib/*-linux-gnu/libnss_files.so.2 /lib/*-linux-gnu/libresolv.so.2 "$into/lib/"
mv "$into"/lib/ld-linux-* "$into/lib/loader"
mkdir "$into/licences"
(cd node_modules && find . -type f \( -iname 'licen[cs]e*' -o -iname 'notice*' \) ! -path '*rolldown*' ! -path './@oxc-project/*' \
  -exec cp --parents -t "$into/licences" {} +)
cat >"$into/install" <<'TEXT'
#!/bin/sh
# install DIR: copies all that lies beside this file into DIR, whose path may be another later.
set -eu
cp -R "$(dirname "$0")/." "$1"
TEXT
chmod 755 "$into/install"
