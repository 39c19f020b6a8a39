// SPDX-License-Identifier: Apache-2.0

/// What is asked of the operators' door about apps and what they sell.
enum CatalogueRoute: Hashable, Sendable {
    case read(bundleID: String), put(bundleID: String)
    case readImage(bundleID: String, id: String), putImage(bundleID: String, id: String)
    case listAudit
}

extension Entry {
    /// Addresses of apps' catalogues and their administration.
    static let catalogue: [Entry] = [
        Entry("GET", "/operator/v1/apps/{}/catalogue") { .catalogue(.read(bundleID: $0[0])) },
        Entry("PUT", "/operator/v1/apps/{}/catalogue") { .catalogue(.put(bundleID: $0[0])) },
        Entry("GET", "/operator/v1/apps/{}/images/{}") {
            .catalogue(.readImage(bundleID: $0[0], id: $0[1]))
        },
        Entry("PUT", "/operator/v1/apps/{}/images/{}") {
            .catalogue(.putImage(bundleID: $0[0], id: $0[1]))
        },
        Entry("GET", "/operator/v1/audit") { _ in .catalogue(.listAudit) },
    ]
}
