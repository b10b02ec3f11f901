#include "analyses/analysis.h"

#include <stdexcept>
#include <utility>

namespace semicrf {

SegmentList PieceContext::without_roles(SegmentList segments) const {
  const EdgeRoles* const roles = chain.roles;
  if (roles == nullptr) return segments;
  return segments.relabelled(source.length(),
                             [roles](const Segment& segment) { return roles->label_of(segment.label); });
}

void Analysis::run_together(const PiecesContext&, std::span<PieceResult>) const {
  throw std::logic_error(title() + ": not computed by one call for several pieces");
}

}  // namespace semicrf
