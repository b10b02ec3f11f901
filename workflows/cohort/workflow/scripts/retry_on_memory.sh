#!/usr/bin/env bash
# retry_on_memory.sh ATTEMPT LOG COMMAND...
#
# Runs COMMAND with standard error in LOG. Snakemake tries a failed job again whatever its exit code was; more memory
# helps after exit code 6 alone (and after SIGKILL, which is how systems end a program that takes too much). After any
# other code a further attempt ends at once with that code. LOG.failed keeps it, with the log, which Snakemake removes
# before an attempt.
set -u
attempt=$1 log=$2
shift 2
failed=$log.failed
if [ "$attempt" -gt 1 ] && [ -s "$failed" ]; then
  code=$(head -n 1 "$failed")
  tail -n +2 "$failed" > "$log"
  echo "not tried again: exit code $code is not one that more memory helps against" >> "$log"
  exit "$code"
fi
rm -f "$failed"
"$@" 2> "$log"
code=$?
case $code in
  0 | 6 | 137) ;;
  *) { echo "$code" && cat "$log"; } > "$failed" ;;
esac
exit "$code"
