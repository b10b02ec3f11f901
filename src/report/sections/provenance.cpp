// Which files and commands the report comes from.
#include "draw/scale.h"
#include "report/sections/sections.h"

namespace semicrf {

Section provenance_section(const ProvenanceFacts& facts) {
  Section section{"provenance", "Provenance", {}};
  section.add(
      Paragraph{"With these files and this command the report comes out the same, byte by byte. Names are "
                "given without folders."});
  for (const std::string& doubt : facts.doubts) section.add(Paragraph{doubt, true});
  TableBlock files{"files", "Files", {}};
  files.table.names = {"role", "file", "bytes", "sha256"};
  files.table.headings = {"Role", "File", "Bytes", "SHA-256"};
  for (const FileFact& fact : facts.files)
    files.table.rows.push_back({text_cell(fact.role), text_cell(fact.name), count_cell(fact.bytes),
                                text_cell(fact.sha256.empty() ? "." : fact.sha256)});
  section.add(std::move(files));
  section.add(SubHeading{"This report"});
  section.add(Verbatim{facts.report_command});
  section.add(SubHeading{"The segments"});
  if (facts.header.empty()) {
    section.add(Paragraph{"Their file has no header that says how they were made."});
    return section;
  }
  if (!facts.segments_command.empty()) {
    section.add(Paragraph{
        "As the header of their file tells it; names of outputs, which change nothing, are not kept there."});
    section.add(Verbatim{facts.segments_command});
  }
  section.add(Paragraph{"The header:"});
  section.add(Verbatim{facts.header});
  return section;
}

}  // namespace semicrf
