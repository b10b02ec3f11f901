#!/usr/bin/env python3
"""How long a cohort takes on a given cluster: the job graph of workflows/cohort, and a scheduler that is simulated.

    snakemake --snakefile workflows/cohort/workflow/Snakefile --directory COHORT --dag dot > dag.dot
    docs/examples/cohort_scale.py --graph dag.dot --cost decode=22,2,400 --cost report=5,1,2000 --slots 64x4000

--cost RULE=SECONDS,THREADS,MEGABYTES[,BYTES][,gpu] of one job: its wall time on these threads, its memory, and what it reads
and writes of the shared file system. --slots CORESxMEGABYTES, may be repeated: nodes. --gpus: GPUs of all nodes together.
--latency: seconds from the submission of a job to its start; --bandwidth: bytes per second of the file system, shared by all
jobs that run; --submit: jobs that the workflow system can submit in a second.

List scheduling: a job starts on the first node that has cores and memory for it, in the order in which jobs become ready.
"""

import argparse
import collections
import heapq
import re
import sys


def read_graph(text):
    """{job: rule} and {job: jobs it waits for} of the dot graph that Snakemake prints."""
    rules = {job: label.split("\\n")[0] for job, label in re.findall(r'^\s*(\d+)\s*\[label = "([^"]+)"', text, re.MULTILINE)}
    needs = {job: set() for job in rules}
    for before, after in re.findall(r"^\s*(\d+) -> (\d+)", text, re.MULTILINE):
        needs[after].add(before)
    return rules, needs


def read_cost(text):
    """RULE=SECONDS,THREADS,MEGABYTES[,BYTES][,gpu]"""
    rule, fields = text.split("=")
    fields = fields.split(",")
    gpu = fields[-1] == "gpu"
    numbers = [float(field) for field in (fields[:-1] if gpu else fields)] + [0.0]  # no bytes unless they are given
    return rule, {"seconds": numbers[0], "threads": int(numbers[1]), "memory": numbers[2], "bytes": numbers[3], "gpu": gpu}


class Cluster:
    """What is free of every node, and the work that runs."""

    def __init__(self, slots, gpus, bandwidth):
        self.free = [[int(cores), float(memory)] for cores, memory in (slot.split("x") for slot in slots)]
        self.cores, self.gpus, self.bandwidth = sum(node[0] for node in self.free), gpus, bandwidth
        self.memory_used = self.memory_peak = 0.0
        self.reading = 0  # jobs that use the file system

    def place(self, cost):
        if cost["gpu"] and self.gpus == 0:
            return None
        for number, node in enumerate(self.free):
            if node[0] >= cost["threads"] and node[1] >= cost["memory"]:
                self.change(number, cost, -1)
                return number
        return None

    def change(self, number, cost, sign):
        self.free[number][0] += sign * cost["threads"]
        self.free[number][1] += sign * cost["memory"]
        self.gpus += sign * (1 if cost["gpu"] else 0)
        self.memory_used -= sign * cost["memory"]
        self.memory_peak = max(self.memory_peak, self.memory_used)
        self.reading -= sign * (1 if cost["bytes"] else 0)

    def seconds(self, cost):
        """Computing and the file system beside each other; jobs that run share its bandwidth evenly as things stand at the start."""
        transfer = cost["bytes"] * max(1, self.reading) / self.bandwidth if self.bandwidth else 0.0
        return max(cost["seconds"], transfer)


def simulate(rules, needs, costs, cluster, latency, submit):
    """Makespan in seconds, core seconds that computed, jobs."""
    followers = collections.defaultdict(list)
    for job, before in needs.items():
        for one in before:
            followers[one].append(job)
    left = {job: len(before) for job, before in needs.items()}
    ready = collections.deque(job for job in rules if left[job] == 0)
    events, waiting, now, worked, submitted_until = [], collections.deque(), 0.0, 0.0, 0.0

    def finish(job):
        for one in followers[job]:
            left[one] -= 1
            if left[one] == 0:
                ready.append(one)

    done = 0
    while done < len(rules):
        while ready:
            job = ready.popleft()
            if rules[job] not in costs:  # a target, which is no job
                done += 1
                finish(job)
                continue
            submitted_until = max(submitted_until, now) + 1.0 / submit
            heapq.heappush(events, (submitted_until + latency, "arrives", job, None))
        started = []
        for job in waiting:
            cost = costs[rules[job]]
            node = cluster.place(cost)
            if node is None:
                break  # in order: the first that has no room keeps the others waiting
            seconds = cluster.seconds(cost)
            worked += seconds * cost["threads"]
            heapq.heappush(events, (now + seconds, "ends", job, node))
            started.append(job)
        for _ in started:
            waiting.popleft()
        if not events:
            if done == len(rules):
                break
            sys.exit("a job has room on no node: %s" % (rules[waiting[0]] if waiting else "?"))
        now, kind, job, node = heapq.heappop(events)
        if kind == "arrives":
            waiting.append(job)
        else:
            cluster.change(node, costs[rules[job]], 1)
            done += 1
            finish(job)
    return now, worked


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", required=True)
    parser.add_argument("--cost", action="append", required=True, type=read_cost)
    parser.add_argument("--slots", action="append", required=True)
    parser.add_argument("--gpus", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--bandwidth", type=float, default=0.0)
    parser.add_argument("--submit", type=float, default=10.0)
    options = parser.parse_args()
    with open(options.graph, encoding="utf-8") as file:
        rules, needs = read_graph(file.read())
    costs = dict(options.cost)
    cluster = Cluster(options.slots, options.gpus, options.bandwidth)
    seconds, worked = simulate(rules, needs, costs, cluster, options.latency, options.submit)
    counts = collections.Counter(rules.values())
    ideal = sum(costs[rule]["seconds"] * costs[rule]["threads"] * count for rule, count in counts.items() if rule in costs)
    total = sum(costs[rule]["bytes"] * count for rule, count in counts.items() if rule in costs)
    print("jobs\t%s" % ", ".join("%d %s" % (count, rule) for rule, count in sorted(counts.items()) if rule in costs))
    print("wall hours\t%.3f" % (seconds / 3600))
    print("core hours that computed\t%.2f (%.2f without waiting for files)" % (worked / 3600, ideal / 3600))
    print("share of the cores at work\t%.3f" % (worked / (seconds * cluster.cores)))
    print("bytes of the file system\t%.3g" % total)
    print("peak of the memory of jobs, GB\t%.1f" % (cluster.memory_peak / 1000))


if __name__ == "__main__":
    main()
