// SPDX-License-Identifier: Apache-2.0

import Commerce

extension CatalogueFile {
    /// Settings that are switched on and stored, but do not have their full
    /// effect in this store.
    public var unobeyed: [CatalogueProblem] {
        contents.settings.unobeyed.map {
            CatalogueProblem(
                file: name, keyPath: "settings.\($0.key)", rule: $0.rule, remedy: $0.remedy)
        }
    }
}
