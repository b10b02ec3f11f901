// Which files and commands the report comes from.
#include "draw/number_text.h"
#include "report/sections/sections.h"

namespace semicrf {

Section provenance_section(const ProvenanceFacts& facts) {
  Section section{"provenance", "Provenance", {}};
  section.blocks.push_back(
      Paragraph{"With these files and this command the report comes out the same, byte by byte. Names are "
                "given without folders."});
  for (const std::string& doubt : facts.doubts) section.blocks.push_back(Paragraph{doubt, true});
  TableBlock files{"files", "Files", {}};
  files.table.names = {"role", "file", "bytes", "sha256"};
  files.table.headings = {"Role", "File", "Bytes", "SHA-256"};
  for (const FileFact& fact : facts.files)
    files.table.rows.push_back({text_cell(fact.role), text_cell(fact.name), count_cell(fact.bytes),
                                text_cell(fact.sha256.empty() ? "." : fact.sha256)});
  section.blocks.push_back(std::move(files));
  section.blocks.push_back(SubHeading{"This report"});
  section.blocks.push_back(Verbatim{facts.report_command});
  section.blocks.push_back(SubHeading{"The segments"});
  if (facts.header.empty()) {
    section.blocks.push_back(Paragraph{"Their file has no header that says how they were made."});
    return section;
  }
  if (!facts.segments_command.empty()) {
    section.blocks.push_back(Paragraph{
        "As the header of their file tells it; names of outputs, which change nothing, are not kept there."});
    section.blocks.push_back(Verbatim{facts.segments_command});
  }
  section.blocks.push_back(Paragraph{"The header:"});
  section.blocks.push_back(Verbatim{facts.header});
  return section;
}

}  // namespace semicrf
