# Sets `program` to the first program on PATH that has the caller's name and is not in the caller's folder (`here`).
name=${0##*/}
program=
set -f
folders=$IFS
IFS=:
for folder in $PATH; do
  [ "$folder" = "$here" ] && continue
  if [ -f "${folder:-.}/$name" ] && [ -x "${folder:-.}/$name" ]; then
    program=${folder:-.}/$name
    break
  fi
done
IFS=$folders
set +f
if [ -z "$program" ]; then
  echo "$name: not found" >&2
  exit 127
fi
