// SPDX-License-Identifier: Apache-2.0

import Commerce

extension CatalogueFile {
    /// Switches that are on, and that the store keeps and does not act upon
    /// as they say.
    public var unobeyed: [CatalogueProblem] {
        contents.settings.unobeyed.map {
            CatalogueProblem(
                file: name, keyPath: "settings.\($0.key)", rule: $0.rule, remedy: $0.remedy)
        }
    }
}
