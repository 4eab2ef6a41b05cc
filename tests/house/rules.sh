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
  grep -vE '^tests/(data|fuzz/corpus)/')
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

# What two engines need lives in a room below both.
engines_stay_apart() {
  local posespace full
  mapfile -t posespace < <(printf '%s\n' "${code[@]}" |
    grep -E '^src/supple/((offline|runtime)/posespace/|pipeline/character/(engine|build)_posespace|asset/pose_space)')
  mapfile -t full < <(printf '%s\n' "${code[@]}" |
    grep -E '^src/supple/(offline/full/|pipeline/character/engine_full|asset/full_)')
  forbid "engines never include each other" grep -nHE '#include.*(/full/|full_model|full_archive|engine_full)' "${posespace[@]}"
  forbid "engines never include each other" grep -nHE '#include.*(/posespace/|pose_space|_posespace)' "${full[@]}"
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

runtime_stays_apart
engines_stay_apart
rooms_have_short_readmes
files_stay_small
code_names_its_licence
texts_are_fit_to_publish

((breaches == 0)) || { echo "$breaches breaches of the house rules"; exit 1; }
echo "${#files[@]} files keep the house rules (${#code[@]} of code, ${#runtime[@]} of the runtime)"
