#!/usr/bin/env python3
"""MultiQC over what `decode`, `eval` and `train` write with --multiqc for three samples: all numbers in one page.

The samples are three stretches of the tracks in data/. Compared are the tables that MultiQC writes beside its page.
"""

import csv
import json

import tools

SAMPLES = {"s1": "III:90361-100360", "s2": "III:100361-110360", "s3": "III:110361-120360"}
SECTIONS = {"semicrf_labels", "semicrf_durations", "semicrf_label_durations", "semicrf_label_f1", "semicrf_training"}


def write_documents(program, folder):
    folder.mkdir()
    common = ["--multiqc", folder]
    for sample, region in SAMPLES.items():
        bed = folder.parent / (sample + ".segments.bed.gz")
        tools.run([program, "decode", "-q", "-p", tools.DATA / "demo.params.json", "--score", "posterior", "-r", region, "-o", bed]
                  + common + tools.DEMO_TRACKS)
        tools.run([program, "eval", "-q", "--truth", tools.DATA / "genes.bed", "-r", region, "-o", "/dev/null", bed] + common)
    tools.run([program, "train", "-q", "--labels", tools.DATA / "genes.bed", "-b", "3", "--max-iterations", "3",
               "-o", folder.parent / "yeast.params.json"] + common + tools.DEMO_TRACKS)


def rows(path):
    with open(path, encoding="utf-8") as file:
        return {row.pop("Sample"): row for row in csv.DictReader(file, delimiter="\t")}


def compare_general(documents, table):
    """Every number of the documents stands in MultiQC's table, which names columns by namespace and key."""
    tools.expect(set(table) == set(SAMPLES), "rows of the general statistics: %s" % sorted(table))
    compared = 0
    for document in documents.values():
        if document["plot_type"] != "generalstats":
            continue
        for sample, values in document["data"].items():
            for key, value in values.items():
                column = [name for name in table[sample] if name.split("-", 1)[-1] == key]
                tools.expect(len(column) == 1, "columns of %s: %s" % (key, column))
                found = float(table[sample][column[0]])
                tools.expect(abs(found - value) <= 1e-9 * abs(value), "%s of %s: %s, expected %s" % (key, sample, found, value))
                compared += 1
    tools.expect(compared >= 3 * 9, "only %d numbers of the general statistics" % compared)


def main():
    options = tools.arguments(__doc__).parse_args()
    multiqc = tools.tool("multiqc")
    with tools.Folder(options.keep) as folder:
        write_documents(options.program, folder / "documents")
        done = tools.run([multiqc, "--no-ansi", "--strict", "--no-version-check", "-o", folder / "page", folder / "documents"],
                         env=tools.environment(options.program, HOME=str(folder)))
        for word in ("WARNING", "ERROR", "Traceback"):
            tools.expect(word not in done.stdout.replace("| ", " "), "MultiQC complains:\n" + done.stdout)
        documents = {path.name: json.loads(path.read_text()) for path in (folder / "documents").iterdir()}
        tools.expect(len(documents) == 3 * 6 + 1, "documents: %s" % sorted(documents))
        data = folder / "page" / "multiqc_data"
        compare_general(documents, rows(data / "multiqc_general_stats.txt"))
        page = (folder / "page" / "multiqc_report.html").read_text()
        for section in SECTIONS:
            tools.expect('id="%s"' % section in page, "no section %s in the page" % section)
        labels = rows(data / "multiqc_semicrf_labels_plot.txt")
        for sample in SAMPLES:
            found = sum(float(value) for value in labels[sample].values())
            tools.expect(found == 10002, "bases of %s, whole bins of 3: %s" % (sample, found))
        tools.expect(set(rows(data / "multiqc_semicrf_training_table.txt")) == {"yeast"}, "the training has a row of its own")
    print("3 samples, %d documents, one page" % len(documents))


if __name__ == "__main__":
    main()
