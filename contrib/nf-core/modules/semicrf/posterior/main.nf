process SEMICRF_POSTERIOR {
    tag "${meta.id}"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container "${workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? 'https://depot.galaxyproject.org/singularity/semicrf:0.2.0--h077b44d_0'
        : 'quay.io/biocontainers/semicrf:0.2.0--h077b44d_0'}"

    input:
    tuple val(meta), path(tracks)
    tuple val(meta2), path(model)

    output:
    tuple val(meta), path("*.boundaries.bedgraph.gz"), emit: boundaries
    tuple val(meta), path("*.label.*.bedgraph.gz"), emit: labels
    tuple val(meta), path("*.bedgraph.gz.{tbi,csi}"), emit: index
    tuple val(meta), path("*.stats.json"), emit: stats
    tuple val("${task.process}"), val('semicrf'), eval("semicrf --version | sed '1!d; s/semicrf //'"), topic: versions, emit: versions_semicrf

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    def memory = task.memory ? "--max-memory ${task.memory.toMega()}M" : ''
    def device = task.accelerator ? 'cuda' : 'cpu'
    """
    semicrf \\
        posterior \\
        ${args} \\
        --threads ${task.cpus} \\
        --device ${device} \\
        ${memory} \\
        --write-index \\
        --params ${model} \\
        --output ${prefix}.boundaries.bedgraph.gz \\
        --labels-out ${prefix}.label \\
        --stats ${prefix}.stats.json \\
        ${tracks}
    """

    stub:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    echo ${args}
    echo "" | gzip > ${prefix}.boundaries.bedgraph.gz
    touch ${prefix}.boundaries.bedgraph.gz.tbi
    echo "" | gzip > ${prefix}.label.first.bedgraph.gz
    touch ${prefix}.label.first.bedgraph.gz.tbi
    touch ${prefix}.stats.json
    """
}
