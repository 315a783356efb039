#!/usr/bin/env python3
"""A Slurm cluster on loopback, in a scratch folder: munged, slurmctld and one slurmd for each node, on free ports.
Jobs of the partition `urgent` preempt those of `cells`, which is the default.

Nothing under /etc or /run is read or written, and a cluster of the machine's own is not touched. When it ends, every process
it started and the folder are gone. `cluster.py [command...]` runs a command, or a shell, with the cluster up."""

import contextlib
import ctypes
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel")
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"

CONF = """\
ClusterName=assay-test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
# No accounting, no cgroups, no epilog: what the smallest cluster has.
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
# Every node is this machine: each claims processors of its own, so that cells run side by side.
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2
"""


class Unavailable(Exception):
    """Why there can be no cluster on this machine."""


def free_ports(count: int) -> list[int]:
    held = [socket.socket() for _ in range(count)]
    for s in held:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return ports


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def children_of(root: int) -> list[int]:
    """Every descendant, also those whose own parent is gone: this process adopts them (a subreaper)."""
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
    found, frontier = [], [root]
    while frontier:
        frontier = [pid for pid, parent in parents.items() if parent in frontier]
        found += frontier
    return found


class Cluster:
    """`with Cluster(nodes=10) as cluster:`; cluster.env is the environment in which sbatch and the others find it."""

    def __init__(self, nodes: int = 1, cpus: int = 1):
        self.nodes, self.cpus = nodes, cpus
        self.daemons: dict[str, subprocess.Popen] = {}

    def __enter__(self) -> "Cluster":
        if os.geteuid() != 0:
            raise Unavailable("slurmctld and slurmd are started as root here, and this is not root")
        missing = [name for name in PROGRAMS if not shutil.which(name, path=PATH)]
        if missing:
            raise Unavailable(f"not installed: {', '.join(missing)} (ci/install.sh ci/packages-slurm.txt)")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="assay-slurm-"))
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def run(self, *command, check: bool = True, **more) -> str:
        """Output of a Slurm command."""
        done = subprocess.run(command, env=self.env, text=True, capture_output=True, timeout=60, **more)
        if check and done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def log_tails(self) -> str:
        return "\n".join(f"--- {log.name}\n" + "\n".join(log.read_text(errors="replace").splitlines()[-8:])
                         for log in sorted(self.folder.glob("*.log")))

    def _daemon(self, name: str, *command) -> None:
        out = open(self.folder / f"{name}.log", "w")
        self.daemons[name] = subprocess.Popen(command, env=self.env, stdout=out, stderr=subprocess.STDOUT, cwd="/",
                                              start_new_session=True, preexec_fn=_die_with_parent)
        out.close()

    def _wait(self, what: str, ready, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not ready():
            for name, daemon in self.daemons.items():
                if daemon.poll() is not None:
                    raise Unavailable(f"{name} ended with {daemon.returncode} before {what}:\n{self.log_tails()}")
            if time.monotonic() > deadline:
                raise Unavailable(f"{what}: not within {seconds:.0f} s:\n{self.log_tails()}")
            time.sleep(0.1)

    def _start(self) -> None:
        folder, host = self.folder, socket.gethostname().split(".")[0]
        (folder / "state").mkdir()
        key = folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self.ctld_port, *ports = free_ports(1 + self.nodes)
        names = [f"n{i}" for i in range(self.nodes)]
        conf = CONF.format(host=host, folder=folder, ctld_port=self.ctld_port)
        for name, port in zip(names, ports):
            (folder / name).mkdir()
            conf += f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={self.cpus} State=UNKNOWN\n"
        conf += f"PartitionName=cells Nodes={','.join(names)} Default=YES MaxTime=30 State=UP\n"
        conf += f"PartitionName=urgent Nodes={','.join(names)} PriorityTier=10 PreemptMode=OFF State=UP\n"
        (folder / "slurm.conf").write_text(conf)
        self.env = dict(os.environ, PATH=PATH, SLURM_CONF=str(folder / "slurm.conf"), LC_ALL="C.UTF-8")
        for inherited in [k for k in self.env if k.startswith(("SLURM_", "SBATCH_")) and k != "SLURM_CONF"]:
            del self.env[inherited]

        self._daemon("munged", "munged", "--foreground", "--force", f"--socket={folder}/munge.socket", f"--key-file={key}",
                     f"--pid-file={folder}/munged.pid", f"--seed-file={folder}/munged.seed")
        self._wait("munged has a socket", (folder / "munge.socket").exists, 10)
        self._daemon("slurmctld", "slurmctld", "-D", "-c", "-f", f"{folder}/slurm.conf")
        self._wait("slurmctld answers", lambda: "UP" in self.run("scontrol", "ping", check=False), 20)
        for name in names:
            self._daemon(name, "slurmd", "-D", "-N", name, "-f", f"{folder}/slurm.conf")
        self._wait("every node is idle", lambda: set(self.run("sinfo", "-h", "-N", "-o", "%T").split()) == {"idle"}, 30)

    def close(self) -> None:
        """Kills whatever descends from this process: daemons, steps, servers that a job started. Nothing of their state is needed."""
        self.daemons.clear()
        while left := children_of(os.getpid()):  # killing one makes its children ours
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            for pid in left:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, 0)
        shutil.rmtree(self.folder, ignore_errors=True)


def main() -> int:
    try:
        with Cluster(nodes=10) as cluster:
            return subprocess.run(sys.argv[1:] or ["bash", "-i"], env=cluster.env).returncode
    except Unavailable as why:
        print(f"SKIPPED: no Slurm cluster here: {why}", file=sys.stderr)
        return 77


if __name__ == "__main__":
    sys.exit(main())
