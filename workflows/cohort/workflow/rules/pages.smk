# What follows the segments: chromosomes joined, evaluations, reports and the MultiQC page of all samples.

if BY_CHROMOSOME:

    rule gather:
        input:
            expand(
                "results/{{sample}}/parts/{chromosome}.{{kind}}.gz",
                chromosome=config["chromosomes"],
            ),
        output:
            joined="results/{sample}/{sample}.{kind}.gz",
            index=f"results/{{sample}}/{{sample}}.{{kind}}.gz.{INDEX}",
        log:
            "results/logs/{sample}/gather.{kind}.log",
        wildcard_constraints:
            kind="segments.bed|boundaries.bedgraph",
        conda:
            "../envs/htslib.yaml"
        resources:
            mem_mb=500,
        params:
            index=config["index"],
            script=GATHER,
        shell:
            "bash {params.script:q} {output.joined:q} {params.index} {input:q} 2> {log:q}"

    rule describe:
        input:
            params=config["params"],
            segments=SEGMENTS,
        output:
            table="results/{sample}/{sample}.labels.tsv",
            documents=SEGMENT_DOCUMENTS,
        log:
            "results/logs/{sample}/describe.log",
        retries: config["retries"]
        conda:
            "../envs/semicrf.yaml"
        resources:
            mem_mb=doubled_memory(1000),
            attempt=attempt_of,
        params:
            folder=documents_folder,
            guard=GUARD,
        shell:
            "bash {params.guard:q} {resources.attempt} {log:q}"
            " semicrf describe --params {input.params:q} --output {output.table:q}"
            " --multiqc {params.folder:q} --multiqc-name {wildcards.sample:q} {input.segments:q}"


rule evaluate:
    input:
        truth=truth_file,
        segments=SEGMENTS,
    output:
        text="results/{sample}/{sample}.evaluation.txt",
        documents=EVALUATION_DOCUMENTS,
    log:
        "results/logs/{sample}/evaluate.log",
    retries: config["retries"]
    conda:
        "../envs/semicrf.yaml"
    resources:
        mem_mb=doubled_memory(1000),
        attempt=attempt_of,
    params:
        folder=documents_folder,
        options=config["extra"]["eval"],
        guard=GUARD,
    shell:
        "bash {params.guard:q} {resources.attempt} {log:q}"
        " semicrf eval --truth {input.truth:q} --output {output.text:q} --multiqc {params.folder:q}"
        " --multiqc-name {wildcards.sample:q} {params.options} {input.segments:q}"


rule report:
    input:
        params=config["params"],
        tracks=lambda wildcards: track_files(wildcards.sample),
        segments=SEGMENTS,
        posterior=BOUNDARIES if WITH_BOUNDARIES else [],
        truth=truth_file if config["truth"] else [],
    output:
        report(
            "results/{sample}/{sample}.report.html",
            category="Samples",
            labels={"sample": "{sample}"},
            caption="../report/sample.rst",
        ),
    log:
        "results/logs/{sample}/report.log",
    retries: config["retries"]
    conda:
        "../envs/semicrf.yaml"
    resources:
        mem_mb=doubled_memory(config["report_mem_mb"]),
        attempt=attempt_of,
    params:
        tracks=lambda wildcards: track_arguments(wildcards.sample),
        files=lambda wildcards, input: " ".join(
            f"--{name} {shlex.quote(input.get(name))}"
            for name in ("posterior", "truth")
            if input.get(name)
        ),
        options=config["extra"]["report"],
        guard=GUARD,
    shell:
        "bash {params.guard:q} {resources.attempt} {log:q}"
        " semicrf report --params {input.params:q} --segments {input.segments:q} --output {output:q}"
        " {params.files} {params.options} {params.tracks}"


# MultiQC writes in place, so that its page is made beside the results and moved when it is complete.
rule multiqc:
    input:
        all_documents(),
    output:
        page=report(
            "results/multiqc.html",
            category="Cohort",
            labels={"page": "all samples"},
            caption="../report/multiqc.rst",
        ),
        data=directory("results/multiqc_data"),
    log:
        "results/logs/multiqc.log",
    conda:
        "../envs/multiqc.yaml"
    resources:
        mem_mb=config["multiqc_mem_mb"],
    params:
        documents=lambda wildcards, input: os.path.dirname(input[0]),
        unfinished=lambda wildcards, output: f"{output.data}.unfinished",
    shell:
        "rm -rf {params.unfinished:q} {output.data:q} &&"
        " multiqc --no-version-check --force --filename multiqc.html --outdir {params.unfinished:q}"
        " {params.documents:q} > {log:q} 2>&1 &&"
        " mv {params.unfinished:q}/multiqc_data {output.data:q} &&"
        " mv {params.unfinished:q}/multiqc.html {output.page:q} && rmdir {params.unfinished:q}"
