# One image per target. Only what npm installs for a service and the sources of it and of ours below it get into one; they run
# as they are, and nothing but the console and the daemon of sandboxes is built; what Node compiles of them at each start is kept
# with them.

FROM node:26.10.0-bookworm-slim AS base
ENV NODE_ENV=production
WORKDIR /app

# The manifests alone, so that what npm installed is used again until one of them changes.
FROM base AS manifests
WORKDIR /all
COPY . .
RUN mkdir /source && find . -name package.json -o -name package-lock.json -o -name .npmrc | xargs cp --parents -t /source

FROM base AS packages
WORKDIR /source
COPY --from=manifests /source .
ENV npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false npm_config_ignore_scripts=true

FROM packages AS gateway-files
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --omit=optional --workspace @automation/gateway
COPY . .
RUN scripts/images/gather.sh gateway /app

FROM packages AS process-catalog-files
RUN --mount=type=cache,target=/root/.npm \
  npm ci --omit=dev --omit=optional --workspace @automation/process-catalog --workspace @automation/admin
COPY . .
RUN scripts/images/gather.sh process-catalog /app @automation/admin @automation/admin/perform @automation/admin/wire-target

FROM packages AS execution-files
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --omit=optional --workspace @automation/execution
COPY . .
RUN scripts/images/gather.sh execution /app

FROM packages AS scheduler-files
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --omit=optional --workspace @automation/scheduler
COPY . .
RUN scripts/images/gather.sh scheduler /app

FROM packages AS storage-files
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --omit=optional --workspace @automation/storage
COPY . .
RUN scripts/images/gather.sh storage /app

FROM packages AS sandbox-files
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --omit=optional --workspace @automation/sandbox
COPY . .
RUN scripts/images/gather.sh sandbox /app

FROM packages AS runner-files
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --omit=optional --workspace @automation/runner
COPY . .
RUN scripts/images/gather.sh runner /app

# What opens terminals in sandboxes, in one file that runs in any Linux image.
FROM debian:bookworm-slim AS pty
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/* /var/log/*
COPY apps/sandbox-daemon/src/commands/pty.c .
RUN gcc -O2 -static -Wall -Werror -o /pty pty.c

# /automation starts in any Linux image, copied or not:
#   /automation/lib/loader --library-path /automation/lib /automation/bin/node /automation/apps/sandbox-daemon/src/main.ts
FROM packages AS daemon-files
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --workspace @automation/sandbox-daemon
COPY . .
RUN node apps/sandbox-daemon/bundle.ts /automation/apps/sandbox-daemon/src && scripts/images/daemon.sh /automation
COPY --from=pty /pty /automation/apps/sandbox-daemon/src/pty

# What browsers get of the console.
FROM packages AS console-files
RUN --mount=type=cache,target=/root/.npm \
  npm ci --include=dev --workspace @automation/console --workspace @automation/service
COPY . .
RUN node apps/embedded/src/console/build.ts && chmod -R a+rX apps/console/dist

# What all services run on: node without npm and headers.
FROM base AS node-alone
RUN mkdir -p /alone/bin /alone/lib && cp /usr/local/bin/node /alone/bin/ \
  && find /usr/lib -name libatomic.so.1 -exec cp -L {} /alone/lib/ \;

FROM debian:bookworm-slim AS service
COPY --from=node-alone /alone /usr/local
RUN ldconfig && rm -rf /var/cache/ldconfig && groupadd --gid 1000 node \
  && SOURCE_DATE_EPOCH=0 useradd --uid 1000 --gid node --create-home node
ENV NODE_ENV=production NODE_COMPILE_CACHE=/app/compiled
WORKDIR /app
USER 1000:1000
ENTRYPOINT ["node", "--import", "/app/libs/service/src/early-stop.ts"]

FROM service AS gateway
COPY --from=gateway-files /app .
COPY --from=console-files /source/apps/console/dist apps/console/dist
CMD ["apps/gateway/src/main.ts"]

# Python finds faults of syntax in the sources that are saved. `admin` is the operator's command: this service has the key for it
# anyway, and whoever may run a program in its pod has that key.
FROM service AS process-catalog
USER 0:0
RUN apt-get update && apt-get install -y --no-install-recommends python3 && rm -rf /var/lib/apt/lists/* /var/log/* /var/cache/ldconfig
COPY scripts/images/admin.sh /usr/local/bin/admin
USER 1000:1000
COPY --from=process-catalog-files /app .
CMD ["apps/process-catalog/src/main.ts"]

FROM service AS execution
COPY --from=execution-files /app .
CMD ["apps/execution/src/main.ts"]

FROM service AS scheduler
COPY --from=scheduler-files /app .
CMD ["apps/scheduler/src/main.ts"]

FROM service AS storage
COPY --from=storage-files /app .
CMD ["apps/storage/src/main.ts"]

FROM service AS sandbox
COPY --from=sandbox-files /app .
CMD ["apps/sandbox/src/main.ts"]

# Python is that of the launcher and of process code; npm, pip and git install packages.
FROM service AS runner
USER 0:0
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git python3 python3-pip \
  && rm -rf /var/lib/apt/lists/* /var/log/* /var/cache/ldconfig
COPY --from=base /usr/local/lib/node_modules/npm /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
COPY --from=runner-files /app .
RUN python3 -I apps/runner/children/compile_python.py apps/runner/children/python libs/jail/python libs/jail/launcher
# As gather.sh has the services compiled.
RUN NODE_DISABLE_COMPILE_CACHE=1 node --random-seed=1 --predictable apps/runner/children/javascript/compile.js
USER 1000:1000
CMD ["apps/runner/src/main.ts"]

# Puts the daemon into the pods of other images: /automation/install DIR.
FROM debian:bookworm-slim AS sandbox-daemon
COPY --from=daemon-files /automation /automation
USER 1000:1000
ENTRYPOINT ["/automation/install"]

# An image of the catalogue that has the daemon with it.
FROM base AS sandbox-base
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates curl git python3 python3-venv \
  && rm -rf /var/lib/apt/lists/* /var/log/* /var/cache/ldconfig
COPY --from=daemon-files /automation /automation
WORKDIR /home/node
USER 1000:1000
ENTRYPOINT []
CMD ["/automation/lib/loader", "--library-path", "/automation/lib", "/automation/bin/node", "--disable-sigusr1", "/automation/apps/sandbox-daemon/src/main.ts"]
