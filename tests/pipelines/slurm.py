"""A real Slurm of one node on this machine, from a folder that unpack_slurm.sh filled: no installation, no privileges needed.

With Slurm(folder, packages) as slurm: slurm.environment is what `sbatch` and the Snakemake plugin need.
"""

import os
import pathlib
import socket
import stat
import subprocess
import time

import tools

CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=sched_interval=1,batch_sched_delay=1
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
PluginDir={plugins}
ReturnToService=2
KillWait=2
MinJobAge=600
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def packages():
    """The folder with Slurm, from SEMICRF_SLURM."""
    folder = pathlib.Path(os.environ.get("SEMICRF_SLURM", ""))
    if not (folder / "usr" / "sbin" / "slurmctld-wlm").exists():
        tools.skip("SEMICRF_SLURM names no folder with Slurm; see tests/pipelines/unpack_slurm.sh")
    return folder.resolve()


class Slurm:
    """The daemons, and the environment of those who use them."""

    def __init__(self, folder, unpacked, cpus=2):
        self.folder, self.unpacked = folder, unpacked
        self.daemons = []
        host = socket.gethostname().split(".")[0]
        for name in ("state", "spool", "bin"):
            (folder / name).mkdir(parents=True)
        library = next((unpacked / "usr" / "lib").glob("*-linux-gnu"))
        self.configuration = folder / "slurm.conf"
        self.configuration.write_text(CONFIGURATION.format(
            host=host, controller_port=free_port(), node_port=free_port(), user=os.environ.get("USER") or "root", folder=folder,
            plugins=library / "slurm-wlm", cpus=cpus, memory=4000))
        self.own = dict(os.environ, SLURM_CONF=str(self.configuration),
                        LD_LIBRARY_PATH="%s:%s" % (library, library / "slurm-wlm"))
        # The Snakemake plugin removes SLURM_* from the environment of what it calls.
        for program in (unpacked / "usr" / "bin").iterdir():
            script = folder / "bin" / program.name
            script.write_text('#!/bin/sh\nSLURM_CONF=%s LD_LIBRARY_PATH=%s exec %s "$@"\n'
                              % (self.configuration, self.own["LD_LIBRARY_PATH"], program))
            script.chmod(script.stat().st_mode | stat.S_IXUSR)

    def environment(self, program, **more):
        result = tools.environment(program, **more)
        result["PATH"] = "%s%s%s" % (self.folder / "bin", os.pathsep, result["PATH"])
        return result

    @staticmethod
    def options():
        """What Snakemake needs to run its jobs here: no accounting, so that states come from squeue."""
        return ["--executor", "slurm", "--jobs", "4", "--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks",
                "1", "--seconds-between-status-checks", "1", "--latency-wait", "10", "--default-resources", "slurm_account=test",
                "slurm_partition=main", "mem_mb=500", "runtime=10"]

    def ask(self, name, *words):
        return subprocess.run([str(self.folder / "bin" / name)] + list(words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False, timeout=30).stdout

    def __enter__(self):
        programs = self.unpacked / "usr" / "sbin"
        for command in ([programs / "slurmctld-wlm", "-D", "-c"],
                        [programs / "slurmd-wlm", "-D", "-c", "-d", programs / "slurmstepd-wlm"]):
            log = open(self.folder / ("%s.out" % command[0].name), "w", encoding="utf-8")
            self.daemons.append(subprocess.Popen([str(word) for word in command], env=self.own, stdout=log, stderr=log,
                                                 stdin=subprocess.DEVNULL))
        for _ in range(60):
            if "idle" in self.ask("sinfo", "-h"):
                return self
            time.sleep(0.5)
        raise SystemExit("Slurm does not start:\n%s\n%s" % (self.ask("sinfo"), (self.folder / "slurmctld.log").read_text()[-2000:]))

    def __exit__(self, *_):
        self.ask("scancel", "--state=RUNNING", "--state=PENDING", "--user=%s" % (os.environ.get("USER") or "root"))
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(timeout=15)
            except subprocess.TimeoutExpired:
                daemon.kill()
