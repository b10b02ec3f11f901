process SEMICRF_REPORT {
    tag "${meta.id}"
    label 'process_single'

    conda "${moduleDir}/environment.yml"
    container "${workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? 'https://depot.galaxyproject.org/singularity/semicrf:0.2.0--h077b44d_0'
        : 'quay.io/biocontainers/semicrf:0.2.0--h077b44d_0'}"

    input:
    tuple val(meta), path(tracks), path(segments), path(boundaries), path(truth)
    tuple val(meta2), path(model)

    output:
    tuple val(meta), path("*.report.html"), emit: report
    tuple val("${task.process}"), val('semicrf'), eval("semicrf --version | sed '1!d; s/semicrf //'"), topic: versions, emit: versions_semicrf

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    def posterior = boundaries ? "--posterior ${boundaries}" : ''
    def compared = truth ? "--truth ${truth}" : ''
    """
    semicrf \\
        report \\
        ${args} \\
        --params ${model} \\
        --segments ${segments} \\
        ${posterior} \\
        ${compared} \\
        --output ${prefix}.report.html \\
        ${tracks}
    """

    stub:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    echo ${args}
    touch ${prefix}.report.html
    """
}
