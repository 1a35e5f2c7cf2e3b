#!/bin/sh
# Python or pytest, linked by its name into a folder before all others of PATH. A command that sets PYTHONPATH itself, as
# in `PYTHONPATH=src pytest`, would hide the reporters: they are put before its folders.
here=${0%/*}
. "$REMAND_REPORTERS/find-program.sh"
case ":$PYTHONPATH:" in
  *":$REMAND_REPORTERS/python:"*) ;;
  *) export PYTHONPATH="$REMAND_REPORTERS/python${PYTHONPATH:+:$PYTHONPATH}" ;;
esac
exec "$program" "$@"
