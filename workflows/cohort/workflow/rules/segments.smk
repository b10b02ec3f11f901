# Segments and posteriors of a sample: one command computes segments and boundary posterior. Where label posteriors are
# wanted, `posterior` computes both kinds of posteriors and `decode` neither.


rule decode:
    input:
        params=config["params"],
        tracks=lambda wildcards: track_files(wildcards.sample),
        plan="results/plan.decode.txt",
    output:
        segments=f"{PART}.segments.bed.gz",
        index=f"{PART}.segments.bed.gz.{INDEX}",
        stats=f"{PART}.decode.stats.json",
        boundaries=(
            multiext(f"{PART}.boundaries.bedgraph.gz", "", f".{INDEX}")
            if BOUNDARIES_BY_DECODE
            else []
        ),
        documents=[] if BY_CHROMOSOME else SEGMENT_DOCUMENTS,
    log:
        f"{LOGS}.decode.log",
    retries: config["retries"]
    conda:
        "../envs/semicrf.yaml"
    threads: config["threads"]
    resources:
        mem_mb=planned_memory,
        attempt=attempt_of,
        gpu=gpus(),
    params:
        tracks=lambda wildcards: track_arguments(wildcards.sample),
        options=decode_options(),
        boundaries=lambda wildcards, output: (
            f"--posterior {shlex.quote(output.boundaries[0])}"
            if output.boundaries
            else ""
        ),
        region=part_region,
        documents=part_documents,
        guard=GUARD,
    shell:
        "bash {params.guard:q} {resources.attempt} {log:q}"
        " semicrf decode --threads {threads} --max-memory {resources.mem_mb}M --write-index"
        " --params {input.params:q} --output {output.segments:q} --stats {output.stats:q}"
        " {params.boundaries} {params.documents} {params.region} {params.options} {params.tracks}"


if config["label_posteriors"]:

    rule posterior:
        input:
            params=config["params"],
            tracks=lambda wildcards: track_files(wildcards.sample),
            plan="results/plan.posterior.txt",
        output:
            labels=directory(f"{PART}.label_posteriors"),
            stats=f"{PART}.posterior.stats.json",
            boundaries=multiext(f"{PART}.boundaries.bedgraph.gz", "", f".{INDEX}"),
        log:
            f"{LOGS}.posterior.log",
        retries: config["retries"]
        conda:
            "../envs/semicrf.yaml"
        threads: config["threads"]
        resources:
            mem_mb=planned_memory,
            attempt=attempt_of,
            gpu=gpus(),
        params:
            tracks=lambda wildcards: track_arguments(wildcards.sample),
            options=posterior_options(),
            region=part_region,
            guard=GUARD,
        shell:
            "mkdir -p {output.labels:q} &&"
            " bash {params.guard:q} {resources.attempt} {log:q}"
            " semicrf posterior --threads {threads} --max-memory {resources.mem_mb}M --write-index"
            " --params {input.params:q} --output {output.boundaries[0]:q} --stats {output.stats:q}"
            " --labels-out {output.labels:q}/label {params.region} {params.options} {params.tracks}"
