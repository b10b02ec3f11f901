#!/usr/bin/env bash
# retry_on_memory.sh ATTEMPT LOG COMMAND...
#
# Runs COMMAND with standard error in LOG. Snakemake tries a failed job again whatever its exit code was; more memory
# helps after exit code 6 alone (and after SIGKILL, which is how systems end a program that takes too much). After any
# other code, kept in LOG.exit_code, a further attempt ends at once with that code.
set -u
attempt=$1 log=$2
shift 2
kept=$log.exit_code
if [ "$attempt" -gt 1 ] && [ -s "$kept" ]; then
  code=$(cat "$kept")
  echo "not tried again: exit code $code is not one that more memory helps against" >> "$log"
  exit "$code"
fi
rm -f "$kept"
"$@" 2> "$log"
code=$?
case $code in
  0 | 6 | 137) ;;
  *) echo "$code" > "$kept" ;;
esac
[ "$code" -eq 0 ] || tail -n 3 "$log" >&2
exit "$code"
