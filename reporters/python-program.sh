#!/bin/sh
# Starts Python or pytest. Linked under their names into the first folder of PATH, because a command that sets
# PYTHONPATH itself, as in `PYTHONPATH=src pytest`, would hide the reporters: their folder is added before its folders.
here=${0%/*}
. "$REMAND_REPORTERS/find-program.sh"
case ":$PYTHONPATH:" in
  *":$REMAND_REPORTERS/python:"*) ;;
  *) export PYTHONPATH="$REMAND_REPORTERS/python${PYTHONPATH:+:$PYTHONPATH}" ;;
esac
exec "$program" "$@"
