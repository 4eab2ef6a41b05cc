#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh PART WEB SUPPLE NATIVE_STEPS WORK: one test of the web part, which ./go web has built into WEB. Prints "skipped:"
# and why where something is missing.
set -euo pipefail
part=$1 web=$2 supple=$3 native=$4 work=$5
here=$(dirname "${BASH_SOURCE[0]}")

skip() { echo "skipped: $*"; exit 0; }
[[ -e $web/view.html && -e $web/runtime/supple.wasm ]] || skip "the web part isn't built; ./go web builds it"
command -v node >/dev/null || skip "node is not installed"

pages() {
  [[ -d $web/npm/node_modules/playwright-core ]] || skip "playwright-core is not there; ./go web installs it"
  command -v "${SUPPLE_CHROMIUM:-chromium}" >/dev/null || skip "chromium is not installed"
  SUPPLE_CHROMIUM=$(command -v "${SUPPLE_CHROMIUM:-chromium}") SUPPLE_NPM=$web/npm SUPPLE_PAGE=$work/mascot.html \
    SUPPLE_PAIR=$work/pair.html SUPPLE_INSIDE=$work/inside.html SUPPLE_MODES=$work/modes.html SUPPLE_COMMAND=$supple SUPPLE_OBJECT=$work/beam.html SUPPLE_DOMAINS=$work/flower.html SUPPLE_RUNTIME=$web/runtime SUPPLE_MODEL=$work/mascot.glb \
    SUPPLE_ASSET=$work/mascot.supple node --test --test-reporter=spec "$here/$1"
}

case $part in
  mascot) # What the others look at.
    "$supple" example mascot -o "$work" --force --quiet
    # The coordinates that `view` takes by itself: an asset for the others, and found in the cache by the page.
    sed -i 's/^size = 0$/size = 45/' "$work/mascot.toml"
    "$supple" build "$work/mascot.toml" -o "$work/mascot.supple" --force --quiet
    sed -i 's/^size = 45$/size = 0/' "$work/mascot.toml"
    "$supple" view "$work/mascot.toml" -o "$work/mascot.html" --page "$web/view.html" --force --quiet
    "$supple" view "$work/mascot.toml" --asset "$work/mascot.supple" --inside -o "$work/inside.html" --page "$web/view.html" --force --quiet
    "$supple" bake "$work/mascot.toml" --asset "$work/mascot.supple" --clip hop -o "$work/mascot_soft.glb" --force --quiet
    "$supple" mesh "$work/mascot.glb" -o "$work/modes.msh" --tets 2000 --force --quiet
    "$supple" view "$work/modes.msh" --modes 6 -o "$work/modes.html" --page "$web/view.html" --force --quiet
    for thing in beam_model:beam flower:flower; do
      "$supple" build "$here/../../examples/${thing%:*}.toml" -o "$work/${thing#*:}.supple" --force --quiet
      "$supple" view "$work/${thing#*:}.supple" -o "$work/${thing#*:}.html" --page "$web/view.html" --force --quiet
    done
    "$supple" view "$work/mascot_soft.glb" --beside "$work/mascot.glb" -o "$work/pair.html" --page "$web/view.html" --force --quiet
    ;;
  module) node "$here/wasm_steps.mjs" "$web/runtime" "$work/mascot.supple" "$native" ;;
  package) node --test --test-reporter=spec "$here/package.test.mjs" "$here/contacts.test.mjs" ;;
  page) pages page.test.mjs ;;
  example) pages example.test.mjs ;;
  *) echo "there is no part '$part'" >&2; exit 2 ;;
esac
