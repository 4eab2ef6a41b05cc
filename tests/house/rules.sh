#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# rules.sh SOURCE…: checks the rules of the house, in the top folder of the repository. The sources are the runtime's.
# Prints every breach, not only the first.
set -euo pipefail

breaches=0
breach() {
  printf '%s\n' "$1"
  breaches=$((breaches + 1))
}

# forbid RULE COMMAND…: reports each line that the search finds; a search that cannot run is a breach too.
forbid() {
  local rule=$1 found line status=0
  shift
  found=$("$@") || status=$?
  ((status < 2)) || breach "'$1 $2' failed: $rule"
  while IFS= read -r line; do
    [[ -z $line ]] || breach "$line: $rule"
  done <<<"$found"
}

# What git knows, tracked or new; everything outside build folders where the sources came without git.
list_files() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard
  else
    find . -type f -not -path './build*' -not -path './out/*' -printf '%P\n'
  fi | while IFS= read -r file; do if [[ -f $file ]]; then printf '%s\n' "$file"; fi; done
}

mapfile -t files < <(list_files)
mapfile -t texts < <(printf '%s\n' "${files[@]}" | grep -E '(\.(h|cpp|c|py|js|md|sh|txt|toml|cmake|in|json)|^go|^\.ci/.*)$' |
  grep -vE '^tests/(data|fuzz/corpus)/|^docs/commands\.md$') # which the command writes
mapfile -t code < <(printf '%s\n' "${texts[@]}" | grep -E '\.(h|cpp)$')
mapfile -t headers < <(printf '%s\n' "${code[@]}" | grep -E '\.h$')
mapfile -t runtime < <({
  (($# == 0)) || printf '%s\n' "$@"
  printf '%s\n' "${code[@]}" | grep -E '^src/supple/(runtime|asset)/' || true
} | sort -u)

runtime_stays_apart() {
  ((${#runtime[@]})) || return 0
  forbid "the runtime never includes offline, io or pipeline" \
    grep -nHE '#include.*supple/(offline|io|pipeline)/' "${runtime[@]}"
}

rooms_have_short_readmes() {
  local room lines
  for room in src/supple/*/; do
    if [[ ! -f ${room}README.md ]]; then
      breach "${room}: a room has a README.md: what it takes, what it gives, which file to read first"
      continue
    fi
    lines=$(wc -l <"${room}README.md")
    ((lines <= 15)) || breach "${room}README.md: $lines lines; a room's README has at most 15"
  done
}

files_stay_small() {
  local lines file
  while read -r lines file; do
    ((lines <= 700)) || breach "$file: $lines lines; no file has more than 700, cut it by subject"
  done < <(wc -l "${texts[@]}" | grep -v ' total$')
}

code_names_its_licence() {
  local file
  for file in "${code[@]}"; do
    [[ ! -s $file ]] || head -n 1 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' ||
      breach "$file: the first line is the SPDX licence line"
  done
  forbid "a header has #pragma once" grep -L '^#pragma once' "${headers[@]}"
}

# The brackets keep this file from finding itself.
texts_are_fit_to_publish() {
  forbid "no path of somebody's machine" grep -nHE '(^|[^A-Za-z0-9_.])(/wor[k]/|/tmp/w[t]|/hom[e]/[a-z]+/(src|git|code))' "${texts[@]}"
  forbid "finish it or write an issue" grep -nHE '\b(TO[D]O|FIX[M]E|XX[X])\b' "${texts[@]}"
}

# Prints "NAMESPACE NAME FILE:LINE" for each type that is defined at namespace scope, outside anonymous namespaces. Our
# code has namespaces on lines of their own and doesn't indent what is in them, so that lines tell.
list_types() {
  awk '
    FNR == 1 { depth = 0 }
    /^namespace .*\{$/ || /^extern "C".*\{$/ { spaces[++depth] = $0 }
    /^\}  \/\/ (namespace|extern)/ { if (depth > 0) --depth }
    /^(struct|class|union|enum( class| struct)?) / {
      hidden = 0
      where = ""
      for (i = 1; i <= depth; ++i) {
        if (spaces[i] ~ /^namespace \{/) hidden = 1
        where = where spaces[i]
      }
      name = $0
      sub(/^(struct|class|union|enum( class| struct)?) /, "", name)
      sub(/^alignas\([^)]*\) /, "", name)
      after = name
      sub(/^[A-Za-z0-9_]+/, "", after)
      name = substr(name, 1, length(name) - length(after))
      if (hidden || name == "" || after ~ /^(;|<|::)/ || after !~ /^( final)?( :|$| \{)/) next
      gsub(/namespace |[ {]/, "", where)
      print where, name, FILENAME ":" FNR
    }' "$@"
}

# The one-definition rule: two types of one name in one namespace are one type to the linker, whatever they hold.
types_are_defined_once() {
  local space name place last="" first=""
  while read -r space name place; do
    if [[ "$space::$name" == "$last" ]]; then
      breach "$place: $space::$name is defined in $first too; give one of them another name or an anonymous namespace"
    else
      last="$space::$name" first=$place
    fi
  done < <(list_types "${code[@]}" | LC_ALL=C sort)
}

# includes_only ROOM ALLOWED…: what the files of a room include of other rooms.
includes_only() {
  local room=$1 allowed
  shift
  allowed=$(IFS='|'; echo "$room|$*")
  forbid "$room includes rooms below it only: $*" \
    grep -rnHP --include='*.h' --include='*.cpp' "#include \"supple/(?!($allowed)/)[a-z]+/" "src/supple/$room"
}

rooms_include_downwards() {
  local below=(base)
  includes_only base
  for room in math mesh fem rig asset; do
    includes_only "$room" "${below[@]}"
    below+=("$room")
  done
  includes_only runtime "${below[@]}"
  includes_only io "${below[@]}"
  includes_only pictures "${below[@]}" io
  includes_only offline "${below[@]}" runtime io
  includes_only export "${below[@]}" runtime io offline
  includes_only pipeline "${below[@]}" runtime io offline export
}

# An engine is a folder of its name in runtime/ and in offline/, and files of its name in pipeline/character. What two of
# them need lives in a room below both.
engines_stay_apart() {
  local engines=(subspace posespace full domains quasistatic) engine others
  for engine in "${engines[@]}"; do
    others=$(printf '%s\n' "${engines[@]}" | grep -vx "$engine" | paste -sd'|')
    for room in "src/supple/runtime/$engine" "src/supple/offline/$engine" src/supple/pipeline/character/*_"$engine".*; do
      [[ ! -e $room || $room == */compare_full.* ]] || forbid "engines don't include each other" \
        grep -rnHE --include='*.h' --include='*.cpp' "#include \"supple/((runtime|offline)/($others)/|.*_($others)\.h)" "$room"
    done
  done
  others=$(IFS='|'; echo "${engines[*]}")
  for room in src/supple/offline/*/; do
    [[ "|$others|" == *"|$(basename "$room")|"* ]] || forbid "a room of offline/ that engines share includes the step of one" \
      grep -rnHE --include='*.h' --include='*.cpp' "#include \"supple/runtime/($others)/" "$room"
  done
}

# Empty lines within a longer doc comment are fine.
list_empty_comments() {
  awk '
    FNR == 1 { before = "" }
    /\/\/\/<[[:space:]]*$/ { print FILENAME ":" FNR ":" $0 }
    /^[[:space:]]*\/\/\/[[:space:]]*$/ && before !~ /\/\/\// { print FILENAME ":" FNR ":" $0 }
    { before = $0 }' "$@"
}

comments_say_something() {
  forbid "a doc comment that is empty: say something or leave it out" list_empty_comments "${code[@]}"
}

runtime_stays_apart
types_are_defined_once
rooms_include_downwards
engines_stay_apart
comments_say_something
rooms_have_short_readmes
files_stay_small
code_names_its_licence
texts_are_fit_to_publish

((breaches == 0)) || { echo "$breaches breaches of the house rules"; exit 1; }
echo "${#files[@]} files keep the house rules (${#code[@]} of code, ${#runtime[@]} of the runtime)"
