// For the tests of reads: writes a SAM file as BAM or CRAM, and its index.
//
// usage: make_reads IN.sam OUT.bam|OUT.cram [--no-index] [--fasta REFERENCE.fa]
#include <htslib/hts.h>
#include <htslib/sam.h>

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string in = argv[1], out = argv[2];
  bool index = true;
  std::string fasta;
  for (int i = 3; i < argc; ++i) {
    if (std::string(argv[i]) == "--no-index") index = false;
    if (std::string(argv[i]) == "--fasta" && i + 1 < argc) fasta = argv[i + 1];
  }
  const bool is_cram = out.ends_with(".cram");
  htsFile* const from = hts_open(in.c_str(), "r");
  htsFile* const to = hts_open(out.c_str(), is_cram ? "wc" : "wb");
  if (from == nullptr || to == nullptr) return 1;
  if (is_cram &&
      (fasta.empty() ? hts_set_opt(to, CRAM_OPT_NO_REF, 1) : hts_set_fai_filename(to, fasta.c_str())) != 0)
    return 1;
  sam_hdr_t* const header = sam_hdr_read(from);
  if (header == nullptr || sam_hdr_write(to, header) != 0) return 1;
  bam1_t* const record = bam_init1();
  int result = 0;
  while ((result = sam_read1(from, header, record)) >= 0)
    if (sam_write1(to, header, record) < 0) return 1;
  bam_destroy1(record);
  sam_hdr_destroy(header);
  if (result < -1 || hts_close(from) != 0 || hts_close(to) != 0) return 1;
  if (index && sam_index_build(out.c_str(), 0) != 0) return 1;
  return 0;
}
