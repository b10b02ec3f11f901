process SEMICRF_COUNT {
    tag "${meta.id}"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container "${workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? 'https://depot.galaxyproject.org/singularity/semicrf:0.2.0--h077b44d_0'
        : 'quay.io/biocontainers/semicrf:0.2.0--h077b44d_0'}"

    input:
    tuple val(meta), path(reads), path(index)

    output:
    tuple val(meta), path("*.bw"), emit: tracks
    tuple val("${task.process}"), val('semicrf'), eval("semicrf --version | sed '1!d; s/semicrf //'"), topic: versions, emit: versions_semicrf

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    def memory = task.memory ? "--max-memory ${task.memory.toMega()}M" : ''
    """
    semicrf \\
        count \\
        ${args} \\
        --threads ${task.cpus} \\
        ${memory} \\
        --prefix ${prefix} \\
        ${reads}
    """

    stub:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    echo ${args}
    touch ${prefix}.H3K4me3.bw
    """
}
