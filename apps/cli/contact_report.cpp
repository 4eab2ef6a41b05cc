// SPDX-License-Identifier: Apache-2.0
#include "contact_report.h"

#include "supple/pipeline/character/resolve_contacts.h"

namespace supple {

void tell_contacts(const CharacterSource& source, Session& session, Json& out) {
  if (!source.contacts) return;
  const ResolvedContacts& contacts = *source.contacts;
  const double percent = 100 / height_of(source), before = percent * contacts.worst_before(),
               after = percent * contacts.worst_after();
  if (before == 0)
    session.line("contact       the rig puts no skin into skin in these clips");
  else if (contacts.corrections.empty())
    session.line("contact       the rig puts skin into skin by up to {:.2f} % of the height, and pushes don't help",
                 before);
  else
    session.line("contact       the rig put skin into skin by up to {:.2f} % of the height; with {} it is {:.2f} %",
                 before, counted(contacts.corrections.size(), "correction", "corrections"), after);
  Json& told = out["contact"];
  told = {{"rig_before_percent", before}, {"rig_after_percent", after}};
  told["corrections"] = Json::array();
  for (const ContactCorrection& correction : contacts.corrections) told["corrections"].push_back(correction.target);
  for (const DepthCurve& curve : contacts.curves)
    told["clips"].push_back({{"name", curve.clip},
                             {"rig_before_percent", percent * curve.worst_before()},
                             {"rig_after_percent", percent * curve.worst_after()}});
}

}  // namespace supple
