#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One script from a bare Debian 12 to a running product. `./go` lists what it can do.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

readonly package_list=cmake/packages.txt
os_release=${SUPPLE_OS_RELEASE:-/etc/os-release}

say() { printf '%s\n' "go: $*" >&2; }
die() { say "$@"; exit 1; }

# ---- packages ---------------------------------------------------------------------------------------------------------

# Lines "package probe" of the named groups of the list.
packages_of() {
  awk -v groups=" $* " '/^\[/ { on = index(groups, " " substr($1, 2, length($1) - 2) " "); next }
    on && NF && $1 !~ /^#/ { print $1, $2 }' "$package_list" | sort -u
}

os_field() { sed -n "s/^$1=//p" "$os_release" 2>/dev/null | tr -d "\"'" || true; }

is_debian() {
  [[ " $(os_field ID) $(os_field ID_LIKE) " == *" debian "* ]] && command -v apt-get dpkg-query >/dev/null
}

# A command that is there counts as its package: node from elsewhere brings npm along and refuses Debian's npm beside it.
missing_debian_packages() {
  local installed package probe
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p')
  while read -r package probe; do
    grep -qxF "$package" <<<"$installed" && continue
    [[ $probe != *[./]* && $probe != - ]] && command -v "$probe" >/dev/null && continue
    echo "$package"
  done < <(packages_of "$@")
}

has_header() {
  local folder
  for folder in /usr/include /usr/local/include /opt/homebrew/include ${CPATH:+${CPATH//:/ }}; do
    [[ -e $folder/$1 || -e $folder/${1#eigen3/} ]] && return 0
  done
  return 1
}

missing_elsewhere() {
  local package probe
  while read -r package probe; do
    case $probe in
      -) ;;
      *[./]*) has_header "$probe" || echo "$package" ;;
      *) command -v "$probe" >/dev/null || echo "$package" ;;
    esac
  done < <(packages_of "$@")
}

as_root() {
  if ((EUID == 0)); then "$@"; else sudo "$@"; fi
}

# Mirrors answer "too many requests" now and then: wait and ask again, longer each time.
apt_install() {
  local attempt
  for attempt in 1 2 3 4 5 6; do
    as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq || true
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
      -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" && return
    ((attempt == 6)) || { say "apt-get failed, trying again in $((attempt * 10)) s"; sleep $((attempt * 10)); }
  done
  die "apt-get could not install: $* — its own message is above; check the network and the package sources, then run ./go again."
}

# Makes sure that the packages of the named groups are there; instant when they are.
need() {
  local missing
  if is_debian; then
    missing=$(missing_debian_packages "$@" | tr '\n' ' ')
    [[ -z $missing ]] && return
    ((EUID == 0)) || command -v sudo >/dev/null ||
      die "these packages are missing and you are neither root nor have sudo: ${missing}— ask for them to be installed, then run ./go again."
    ((EUID == 0)) || sudo true || die "sudo was refused, so these cannot be installed: $missing"
    say "installing: $missing"
    # shellcheck disable=SC2086  # one word per package
    apt_install $missing
  else
    missing=$(missing_elsewhere "$@" | tr '\n' ' ')
    [[ -z $missing ]] ||
      die "$(system_name) is not a Debian system, so install these yourself and run ./go again (Debian's names): $missing"
  fi
}

system_name() {
  local name
  name=$(os_field PRETTY_NAME)
  printf '%s' "${name:-this system}"
}

# ---- building -----------------------------------------------------------------------------------------------------------

# One compiler per core, but no more than memory allows: the heaviest files need about 2 GiB.
job_count() {
  local cores kib
  cores=$(getconf _NPROCESSORS_ONLN)
  kib=$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo 2>/dev/null || true)
  local fit=$((${kib:-16777216} / 2097152))
  ((fit < cores)) && cores=$((fit > 0 ? fit : 1))
  echo "${CMAKE_BUILD_PARALLEL_LEVEL:-$cores}"
}

# The release build asks for AVX2; a processor without it builds for itself.
preset() {
  if grep -qsw avx2 /proc/cpuinfo && grep -qsw fma /proc/cpuinfo; then echo release; else echo native; fi
}

# configure PRESET [cmake arguments]; its output is shown only when it fails.
configure() {
  local log
  log=$(cmake --preset "$@" 2>&1) || { printf '%s\n' "$log" >&2; die "CMake could not configure, see above."; }
  printf '%s\n' "$log" | grep -A9 'Warning' >&2 || true
}

compile() { cmake --build "build/$1" --parallel "$(job_count)" "${@:2}"; }

# build TARGETS… [-- cmake arguments]: the command and what else is named. It needs no test packages, and no benchmarks:
# they stay out of a build folder until a verb asks for them.
build() {
  need build
  local name targets=(supple_cli)
  while (($#)) && [[ $1 != -- ]]; do targets+=("$1"); shift; done
  (($# == 0)) || shift
  name=$(preset)
  [[ -e build/$name/CMakeCache.txt ]] || set -- -DSUPPLE_BUILD_TESTS=OFF -DSUPPLE_BUILD_BENCH=OFF "$@"
  configure "$name" "$@"
  need_targets "$name" "${targets[@]}"
  compile "$name" --target "${targets[@]}"
  ln -sfn "build/$name/supple" supple
}

# What a verb will want, before anything is compiled: a part that CMake left out is found now, not after a quarter of an
# hour.
need_targets() {
  local target
  for target in "${@:2}"; do
    ninja -C "build/$1" -t query "$target" >/dev/null 2>&1 ||
      die "this build has no target '$target'; CMake left it out: cmake --preset $1 says why."
  done
}

# ---- verbs ----------------------------------------------------------------------------------------------------------------

verb_build() {
  build
  say "the command is ./supple"
}

# Our mascot with soft tissue: the file, a picture and an animated preview. A draft, because whoever runs this for the first
# time waits for the compiler already; `./go demo --quality good` is what `./supple bake` does by itself.
verb_demo() {
  need build viewer
  build supple_gallery -- -DSUPPLE_GALLERY=ON
  local folder=out/demo quality=(--quality draft)
  [[ " $* " != *" --quality"* ]] || quality=()
  local gallery
  gallery=build/$(preset)/supple_gallery
  ./supple example mascot -o "$folder" --force --quiet
  ./supple bake "$folder/mascot.toml" -o "$folder/mascot_soft.glb" "${quality[@]}" "$@"
  printf 'mascot\t%s\t%s\n' "$folder/mascot.glb" "$folder/mascot_soft.glb" >"$folder/pairs.tsv"
  "$gallery" sheet "$folder/pairs.tsv" -o "$folder/mascot.png"
  "$gallery" preview "$folder/mascot.glb" "$folder/mascot_soft.glb" --clip hop -o "$folder/mascot_preview.png"
  say "drop $folder/mascot_soft.glb into any glTF viewer; $folder/mascot.png is a picture of it, $folder/mascot_preview.png moves"
  demo_page "$folder" "${quality[@]}"
}

# The mascot live, where there is a page for it.
demo_page() {
  if [[ ! -e build/web/view.html ]]; then
    say "to pull its flesh with the mouse: ./go web, then ./go demo again, makes a page of it"
    return
  fi
  ./supple view "$1/mascot.toml" -o "$1/mascot.html" --force --quiet "${@:2}"
  say "open $1/mascot.html in a browser and pull its flesh"
}

# The runtime in a browser (build/web/runtime) and the page of `supple view` (build/web/view.html). --test: the command,
# too, and the tests that drive the page in Chromium; what follows goes to ctest.
verb_web() {
  local testing=false
  [[ ${1:-} != --test ]] || { testing=true; shift; }
  need build web
  build_web
  $testing || { (($# == 0)) || die "web knows only --test, not '$1'."; return 0; }
  need test web_test
  local name
  name=$(preset)
  configure "$name" -DSUPPLE_BUILD_TESTS=ON
  compile "$name" --target supple_cli native_steps
  ln -sfn "build/$name/supple" supple
  ctest --test-dir "build/$name" -C web -L '^web$' --output-on-failure "$@"
}

build_web() {
  local folder=build/web eigen log
  eigen=$(dirname "$(find /usr/share /usr/local/share /usr/lib -name Eigen3Config.cmake -print -quit 2>/dev/null)")
  log=$(emcmake cmake -S web -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DEigen3_DIR="$eigen" -Wno-dev 2>&1) ||
    { printf '%s\n' "$log" >&2; die "CMake could not configure the web part, see above."; }
  compile web --target supple_module
  web_packages "$folder/npm"
  node web/build_page.mjs "$folder/npm" "$folder/runtime/supple.wasm" "$folder/runtime/supple_objects.wasm" \
    "$folder/view.html" >/dev/null
  say "the package is $folder/runtime, the page $folder/view.html; next: ./supple view hero.glb -o hero.html"
}

# three.js, esbuild and playwright-core, as the lock file has them; instant when they are there.
web_packages() {
  local attempt
  mkdir -p "$1"
  [[ -d $1/node_modules/three ]] && cmp -s web/package-lock.json "$1/package-lock.json" && return
  cp web/package.json "$1/"
  for attempt in 1 2 3; do
    cp web/package-lock.json "$1/"
    (cd "$1" && npm ci --silent --no-audit --no-fund --no-progress) && return
    rm -f "$1/package-lock.json"
    sleep $((attempt * 5))
  done
  die "npm could not install what web/package-lock.json names; its own message is above."
}

# The book as a site that opens from the disk. mkdocs refuses links that lead nowhere; equations are set by KaTeX once here.
verb_book() {
  need book
  local katex=/usr/share/javascript/katex/katex.js
  [[ -e $katex ]] || die "there is no $katex; the book is made with Debian's libjs-katex."
  rm -rf build/book
  mkdocs build --quiet --config-file book/mkdocs.yml || die "mkdocs could not make the book, see above."
  node book/check_equations.mjs "$katex" build/book >/dev/null || die "the book has faults, see above."
  say "the book is build/book/index.html"
}

# With a name: that benchmark. Without: all of them again, into bench/results, where `supple report` looks. Finite elements and
# deformable objects at full size, the rest on small meshes, so that it ends in minutes; full sizes take hours:
# ./go bench pose --results bench/results/MACHINE
verb_bench() {
  need bench
  (($# == 0)) || { build -- -DSUPPLE_BUILD_BENCH=ON; ./supple bench "$@"; return; }
  need viewer
  build supple_gallery -- -DSUPPLE_BUILD_BENCH=ON -DSUPPLE_GALLERY=ON
  local name folder
  folder=bench/results/$(machine_name)
  for name in fem subspace domains quasistatic pose; do
    local size=()
    [[ $name == fem || $name == subspace ]] || size=(--quick)
    say "measuring $name"
    ./supple bench "$name" "${size[@]}" --results "$folder" --force --quiet
  done
  bench_pictures "$folder/figures"
  ./supple report -o out/report.html --machine "$(machine_name)" --force
  say "the numbers are in $folder, the page is out/report.html"
}

# What numbers don't show, as drafts: films, smaller where ffmpeg is there, and pages to play with where the web part is built.
bench_pictures() {
  local folder=$1 character ending=png
  ! command -v ffmpeg >/dev/null || ending=webp
  mkdir -p "$folder"
  for character in x_shape gorilla; do
    say "drawing $character"
    ./supple example "$character" -o out/bench --force --quiet
    ./supple bake "out/bench/$character.toml" -o "out/bench/${character}_soft.glb" --quality draft --force --quiet
    ./supple preview "out/bench/${character}_soft.glb" -o "$folder/pose_$character.$ending" --width 280 --height 280 \
      --seconds 2 --force --quiet
    [[ ! -e build/web/view.html ]] ||
      ./supple view "out/bench/$character.toml" -o "$folder/pose_$character.html" --quality draft --force --quiet
  done
}

# Such as epyc-avx2-2core: the processor's family, its vectors, its cores.
machine_name() {
  local family simd=sse2
  family=$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1 | tr '[:upper:]' '[:lower:]' | grep -oE 'xeon|epyc|ryzen|core|atom' | head -n 1 || true)
  [[ $(preset) != release ]] || simd=avx2
  echo "${family:-$(uname -m)}-$simd-$(getconf _NPROCESSORS_ONLN)core"
}

verb_test() {
  need build test viewer
  local name
  name=$(preset)
  configure "$name" -DSUPPLE_BUILD_TESTS=ON -DSUPPLE_BUILD_BENCH=ON -DSUPPLE_GALLERY=ON
  compile "$name"
  ln -sfn "build/$name/supple" supple
  ctest --test-dir "build/$name" --output-on-failure --parallel "$(job_count)" "$@"
}

# Every animated character of the asset collection beside this folder, and the examples, baked without settings and drawn
# rigid beside soft. What can't be baked is named at the end; the sheet shows the rest.
verb_gallery() {
  need build viewer
  build supple_gallery -- -DSUPPLE_GALLERY=ON
  local folder=build/gallery assets=../shared/assets/rigged failed=0
  local gallery
  gallery=build/$(preset)/supple_gallery
  mkdir -p "$folder/in" "$folder/soft"
  gallery_inputs "$gallery" "$assets" "$folder" >"$folder/pairs.tsv"
  while IFS=$'\t' read -r character file soft; do
    rm -f "$soft"
    ./supple bake "$file" -o "$soft" --quiet || { say "$character could not be baked"; failed=$((failed + 1)); }
  done <"$folder/pairs.tsv"
  "$gallery" sheet "$folder/pairs.tsv" -o "$folder/sheet.png" "$@" || failed=$((failed + 1))
  ((failed == 0)) || die "the gallery has faults, see above."
  say "the sheet is $folder/sheet.png"
}

# Lines "name, file, soft file" with tabs between: what the gallery shows, in order.
gallery_inputs() {
  local gallery=$1 assets=$2 folder=$3 character file
  for character in mascot arm bear gorilla; do
    ./supple example "$character" -o "$folder/in" --force --quiet
    printf '%s\t%s\t%s\n' "$character" "$folder/in/$character.glb" "$folder/soft/$character.glb"
  done
  [[ -d $assets ]] || { say "there is no $assets, so the gallery shows the examples alone"; return 0; }
  while IFS= read -r file; do
    character=$(basename "$(dirname "$file")")
    printf '%s\t%s\t%s\n' "$character" "$file" "$folder/soft/$character.glb"
  done < <("$gallery" list "$assets")
}

# What other people's programs say: three.js and the Khronos validator, both from npm, Chromium and Blender.
verb_integration() {
  need integration farm
  verb_test -L integration "$@"
}

verb_asan() {
  need build test
  configure asan
  compile asan --target supple_unit_tests
  ctest --test-dir build/asan -L unit --output-on-failure --parallel "$(job_count)" "$@"
}

# Two threads with two states of one character, the runtime built with the thread sanitizer.
verb_tsan() { SUPPLE_TSAN=1 verb_test -R 'bindings_asset|c_api_two_threads' "$@"; }

# The runtime built with every dependency but Eigen hidden; ./go test looks at the one that it has built already.
verb_alone() { SUPPLE_ALONE=1 verb_test -R runtime_alone "$@"; }

# Soft motion in every place and size; ./go test tries a few of each.
verb_nightly() {
  SUPPLE_NIGHTLY=1 verb_test -R Invariance "$@"
  SUPPLE_NIGHTLY=1 "build/$(preset)/tests/supple_cli_tests" --gtest_filter='ReportCli.WhatABenchmark*:Docs.*ByNight'
  # Hours: longer than any test may take there.
  SUPPLE_NIGHTLY=1 "build/$(preset)/tests/supple_unit_tests" --gtest_filter='*ViolentMotionNight*'
}

# A clang build of its own in which clang-tidy runs beside the compiler: slow once, then only for what changed.
verb_tidy() {
  need build test dev
  configure debug -B build/tidy -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DSUPPLE_CCACHE=OFF \
    -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON '-DCMAKE_CXX_CLANG_TIDY=clang-tidy;--quiet;--warnings-as-errors=*'
  if [[ ! build/tidy/rules -nt .clang-tidy ]]; then
    compile tidy --target clean
    touch build/tidy/rules
  fi
  compile tidy -- -k 0 || die "clang-tidy found something, see above."
  git ls-files -z go .ci cmake tests | xargs -0 grep -lZ '^#!.*sh$' | xargs -0 shellcheck
  say "clang-tidy and shellcheck are content"
}

verb_format() {
  need dev
  case ${1:-} in
    --check)
      local untidy
      untidy=$(unformatted_files)
      [[ -z $untidy ]] || { printf '%s\n' "$untidy"; die "these files are not formatted; ./go format does it."; }
      say "everything is formatted"
      ;;
    "") code_files | xargs -0 clang-format -i ;;
    *) die "format knows only --check, not '$1'." ;;
  esac
}

unformatted_files() {
  local file
  while IFS= read -r -d '' file; do
    clang-format --dry-run --Werror "$file" 2>/dev/null || printf '%s\n' "$file"
  done < <(code_files)
}

code_files() { git ls-files -z --cached --others --exclude-standard '*.h' '*.cpp'; }

# [seconds] [targets]: each goes on from what it has found before. Finds and counts go to $SUPPLE_FUZZ_DIR, or build/fuzz, in
# corpus and counts.tsv, inputs that break a promise to crashes; the seeds in git stay as they are.
verb_fuzz() {
  local seconds=${1:-30} target format failed=()
  [[ $seconds =~ ^[0-9]+$ ]] || die "fuzz takes the seconds per target, a whole number, not '$seconds'."
  shift || true
  mapfile -t targets < <(basename -s .cpp -a tests/fuzz/fuzz_*.cpp)
  [[ ${targets[0]} != 'fuzz_*' ]] || die "there are no fuzz targets in tests/fuzz."
  (($# == 0)) || targets=("${@/#/fuzz_}")
  for target in "${targets[@]}"; do
    [[ -e tests/fuzz/$target.cpp ]] || die "there is no fuzz target '${target#fuzz_}'; tests/fuzz has them."
  done
  need build dev
  configure asan -B build/fuzz -DCMAKE_CXX_COMPILER=clang++ -DSUPPLE_BUILD_FUZZERS=ON \
    -DSUPPLE_BUILD_TESTS=OFF -DSUPPLE_BUILD_APPS=OFF
  compile fuzz --target "${targets[@]}"
  for target in "${targets[@]}"; do
    format=${target#fuzz_}
    fuzz_one "$target" "tests/fuzz/corpus/$format" "$seconds" || failed+=("$format")
  done
  fuzz_table
  ((${#failed[@]} == 0)) || die "failed: ${failed[*]}; the inputs are in ${SUPPLE_FUZZ_DIR:-build/fuzz}/crashes."
  say "no crash in ${#targets[@]} targets of $seconds s each"
}

fuzz_one() {
  local target=$1 seeds=$2 seconds=$3 program folder=${SUPPLE_FUZZ_DIR:-build/fuzz} log status=0
  local finds=$folder/corpus/${target#fuzz_}
  log=$folder/$target.log
  program=$(find build/fuzz -type f -name "$target" -perm -u+x -print -quit)
  mkdir -p "$finds" "$folder/crashes"
  say "$target for $seconds s"
  local corpora=("$finds")
  [[ -d $seeds ]] && corpora+=("$seeds")
  "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$folder/crashes/${target#fuzz_}-" "${corpora[@]}" 2>"$log" || status=1
  ((status == 0)) || tail -n 40 "$log" >&2
  # Target, executions, seconds, branches seen by the seeds and finds there were, and by all at the end.
  awk -v name="${target#fuzz_}" -v failed="$status" '
    /INITED cov: / { before = $4 } / cov: / { after = $4; runs = substr($1, 2) } /DONE / { runs = substr($1, 2) }
    /^Done / { runs = $2; seconds = $5 }
    END { print name, runs + 0, seconds + 0, before + 0, after + 0, failed }' OFS='\t' "$log" >>"$folder/counts.tsv"
  return $status
}

# All that was counted so far, target by target, as docs/verification.md has it.
fuzz_table() {
  echo "| reader | executions | seconds | branches, seeds → all | failures |"
  echo "|---|---|---|---|---|"
  awk -F'\t' '{ runs[$1] += $2; seconds[$1] += $3; if (!($1 in first)) first[$1] = $4; if ($5 > last[$1]) last[$1] = $5; failed[$1] += $6 }
    END { for (name in runs) printf "| %s | %d | %d | %d → %d | %d |\n", name, runs[name], seconds[name], first[name], last[name], failed[name] }' \
    "${SUPPLE_FUZZ_DIR:-build/fuzz}/counts.tsv" | sort
}

verb_install() {
  [[ $# -eq 1 ]] || die "install takes the folder to install into, such as: ./go install ~/.local"
  build
  cmake --install "build/$(preset)" --prefix "$1"
}

# One .deb of everything that is installed; --try installs it on a bare Debian 12 and bakes a character there.
verb_package() {
  need build viewer package
  local name file
  name=$(preset)
  build supple_gallery supple_c -- -DSUPPLE_GALLERY=ON
  (cd "build/$name" && cpack -G DEB -B "$PWD/../package" >/dev/null) || die "cpack failed: cd build/$name && cpack -G DEB says why."
  file=$(find build/package -maxdepth 1 -name '*.deb' -print -quit)
  say "the package is $file; install it with: sudo apt install ./$file"
  [[ ${1:-} == --try ]] || return 0
  need fresh
  rm -rf build/fresh/clone
  as_root cmake/fresh_debian.sh build/fresh "$PWD/$file"
}

# What `demo` and `test` install, configure and build, without compiling any of it: run by `./go fresh --quick`.
verb_parts() {
  need build test viewer
  local name
  name=$(preset)
  configure "$name" -DSUPPLE_BUILD_TESTS=ON -DSUPPLE_BUILD_BENCH=ON -DSUPPLE_GALLERY=ON
  need_targets "$name" supple_cli supple_gallery supple_c supple_unit_tests supple_runtime_tests supple_sample_tests \
    supple_gallery_tests supple_verification_tests supple_cli_tests supple_integration_tests drive_arm
  say "everything that demo and test build is there"
}

# The proof that nothing installed by hand is needed: the README's commands on a bare Debian 12. --quick: their packages
# and targets only.
verb_fresh() {
  need fresh
  [[ -z $(git status --porcelain) ]] || say "only what is committed is tested; there are changes that are not"
  local verbs=("$@")
  ((${#verbs[@]})) || verbs=(demo test)
  [[ ${verbs[0]} != --quick ]] || verbs=(parts)
  mkdir -p build/fresh
  rm -rf build/fresh/clone
  git clone --quiet --no-hardlinks . build/fresh/clone
  as_root cmake/fresh_debian.sh build/fresh "${verbs[@]}"
}

verb_clean() { rm -rf build out supple; }

verb_help() {
  cat <<'HELP'
./go VERB [arguments]

  build            the release build; leaves the command as ./supple
  demo             builds, then bakes our mascot: a GLB, a picture and a preview in out/demo
  test [ctest…]    builds and runs all tests; for instance ./go test -L unit
                   labels: unit, verification, integration, cli, slow
  integration      installs node, Chromium, Blender and Slurm, then runs the tests against
                   three.js, the Khronos validator, Blender and a Slurm of one node; without
                   them ./go test skips these
  gallery          bakes every example and every animated character of ../shared/assets and
                   draws them rigid beside soft: build/gallery/sheet.png
  book             docs/ as a site that opens from the disk: build/book/index.html
  bench [args]     builds, then runs ./supple bench; without arguments measures everything again, most of
                   it on small meshes: bench/results, and out/report.html
  web [--test]     the runtime as WebAssembly with its JavaScript package, and the page of
                   ./supple view (build/web); with --test drives the page in Chromium
  install FOLDER   installs command, libraries and find_package files
  package [--try]  the same as one .deb in build/package; --try installs it on a bare Debian 12
                   and bakes a character there

  asan             unit tests under the address and undefined-behaviour sanitizers
  tsan             two threads with one character under the thread sanitizer
  alone            the runtime built with nothing but Eigen
  nightly          soft motion in every place and size, flesh of any kind in every clip: the long form of tests
  fuzz [seconds] [readers]   every file reader, or those named, against hostile input, 30 s each;
                   goes on from what earlier runs have found
  tidy             clang-tidy over what changed in the code, shellcheck over the scripts
  format [--check] formats the code, or says what is not formatted
  fresh [verbs]    clones the last commit into a bare Debian 12 and runs demo and test there;
                   --quick: installs and configures there, and looks for all targets
  clean            removes everything that was built

The first run installs what is missing (cmake/packages.txt). CMAKE_BUILD_PARALLEL_LEVEL sets the number of compilers.
HELP
}

main() {
  local verb=${1:-help}
  shift || true
  case $verb in
    build | demo | test | integration | gallery | bench | book | web | install | package | asan | tsan | alone | nightly | fuzz | tidy | format | fresh | parts | clean | help) "verb_$verb" "$@" ;;
    -h | --help) verb_help ;;
    *) verb_help >&2; die "there is no verb '$verb'." ;;
  esac
}

main "$@"
