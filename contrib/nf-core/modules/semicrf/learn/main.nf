process SEMICRF_LEARN {
    tag "${meta.id}"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container "${workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? 'https://depot.galaxyproject.org/singularity/semicrf:0.2.0--h077b44d_0'
        : 'quay.io/biocontainers/semicrf:0.2.0--h077b44d_0'}"

    input:
    tuple val(meta), path(tracks)

    output:
    tuple val(meta), path("*.params.json"), emit: model
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
        learn \\
        ${args} \\
        --threads ${task.cpus} \\
        --device ${device} \\
        ${memory} \\
        --output ${prefix}.params.json \\
        --stats ${prefix}.stats.json \\
        ${tracks}
    """

    stub:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    echo ${args}
    touch ${prefix}.params.json
    touch ${prefix}.stats.json
    """
}
