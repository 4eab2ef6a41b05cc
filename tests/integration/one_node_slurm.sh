#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# one_node_slurm.sh start FOLDER: a Slurm of one node with two slots on the loopback alone, with everything that it keeps
# in FOLDER, an empty one. Prints the file that SLURM_CONF is to name. `stop FOLDER` ends it.
set -euo pipefail

die() { echo "$*" >&2; exit 1; }

free_port() {
  local port
  for port in $(shuf -i 20000-60000 -n 50); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
  done
  die "there is no free port"
}

start() {
  local folder=$1 tool user
  PATH=$PATH:/usr/sbin:/sbin
  for tool in munged slurmctld slurmd sbatch; do
    command -v "$tool" >/dev/null || die "Slurm isn't installed ($tool is missing); ./go integration installs it"
  done
  user=$(id -un)
  mkdir -p "$folder"/{state,spool,munge}
  chmod 700 "$folder/munge"
  dd if=/dev/urandom of="$folder/munge/key" bs=1024 count=1 status=none
  chmod 400 "$folder/munge/key"
  chmod 711 "$folder/munge"
  munged --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/munge/pid" \
    --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" 2>"$folder/munge/start" ||
    die "munged doesn't start: $(cat "$folder/munge/start")"
  cat >"$folder/slurm.conf" <<CONF
ClusterName=supple
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CryptoType=crypto/munge
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
NodeName=localhost NodeAddr=127.0.0.1 CPUs=2 RealMemory=512 State=UNKNOWN
PartitionName=all Nodes=localhost Default=YES State=UP
CONF
  export SLURM_CONF=$folder/slurm.conf
  slurmctld -c >"$folder/start" 2>&1 || die "slurmctld doesn't start: $(cat "$folder/start" "$folder/slurmctld.log")"
  slurmd -N localhost >>"$folder/start" 2>&1 || die "slurmd doesn't start: $(cat "$folder/start" "$folder/slurmd.log")"
  for _ in $(seq 100); do
    [[ $(sinfo -h -o %t 2>/dev/null) == idle ]] && { echo "$folder/slurm.conf"; return; }
    sleep 0.2
  done
  stop "$folder"
  die "Slurm's node doesn't come up: $(tail -n 5 "$folder/slurmctld.log" "$folder/slurmd.log")"
}

stop() {
  local folder=$1 file pid
  for file in "$folder/slurmd.pid" "$folder/slurmctld.pid" "$folder/munge/pid"; do
    [[ -s $file ]] || continue
    pid=$(<"$file")
    kill "$pid" 2>/dev/null || continue
    for _ in $(seq 50); do
      [[ -e /proc/$pid/exe ]] || break
      sleep 0.1
    done
  done
}

case ${1:-} in
  start | stop) "$1" "$2" ;;
  *) die "one_node_slurm.sh start|stop FOLDER" ;;
esac
