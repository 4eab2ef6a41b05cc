#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints the folder in which node finds three.js and the Khronos validator, after installing them there if need be. Fails
# with a sentence where that can't be done; the tests that need them are then skipped.
set -euo pipefail

three=three@0.187.0
validator=gltf-validator@2.0.0-dev.3.10
folder=${SUPPLE_NPM_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/supple/npm}/${three#*@}-${validator#*@}

command -v node >/dev/null && command -v npm >/dev/null || { echo "node and npm are not installed" >&2; exit 1; }

# What node will load, not a mark of ours: caches are cleared by halves.
installed() { [[ -e $folder/node_modules/three/package.json && -e $folder/node_modules/gltf-validator/package.json ]]; }

if ! installed; then
  mkdir -p "$folder"
  # Two tests may start at the same time.
  exec 9>"$folder/lock"
  flock 9
  if ! installed; then
    rm -rf "$folder"/node_modules "$folder"/package-lock.json
    echo '{"private": true, "type": "module"}' >"$folder/package.json"
    (cd "$folder" && timeout 120 npm install --silent --no-audit --no-fund --no-progress "$three" "$validator") >/dev/null 2>&1 ||
      { echo "npm could not install $three and $validator" >&2; exit 1; }
    installed || { echo "npm installed $three and $validator without their files" >&2; exit 1; }
  fi
fi
printf '%s\n' "$folder"
