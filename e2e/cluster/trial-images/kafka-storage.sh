#!/bin/sh
exec java -cp '/opt/kafka/libs/*' kafka.tools.StorageTool "$@"
