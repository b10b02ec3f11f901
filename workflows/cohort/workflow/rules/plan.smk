# What memory the jobs of a sample need: asked of one sample for all, because that depends on the model, the longest
# chromosome and the sizes of the files, and a dry run reads the tracks.


rule plan:
    input:
        params=config["params"],
        tracks=track_files(largest_sample()),
    output:
        "results/plan.{command}.txt",
    log:
        "results/logs/plan.{command}.log",
    wildcard_constraints:
        command="decode|posterior",
    retries: config["retries"]
    conda:
        "../envs/semicrf.yaml"
    threads: config["threads"]
    resources:
        mem_mb=doubled_memory(1000),
        attempt=attempt_of,
        gpu=gpus(),
    params:
        tracks=track_arguments(largest_sample()),
        options=lambda wildcards: plan_options(wildcards.command),
        guard=GUARD,
    shell:
        "bash {params.guard:q} {resources.attempt} {log:q}"
        " semicrf {wildcards.command} --dry-run --threads {threads} --params {input.params:q}"
        " {params.options} {params.tracks} > {output:q}"
