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
    conda:
        "../envs/semicrf.yaml"
    threads: config["threads"]
    resources:
        mem_mb=1000,
        gpu=gpus(),
    params:
        tracks=track_arguments(largest_sample()),
        options=lambda wildcards: plan_options(wildcards.command),
    shell:
        "semicrf {wildcards.command} --dry-run --threads {threads} --params {input.params:q}"
        " {params.options} {params.tracks} > {output:q} 2> {log:q}"
