// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Requests to the operators' door about apps and their catalogues.
enum CatalogueRoute: Hashable, Sendable {
    case read(bundleID: String), put(bundleID: String)
    case readImage(bundleID: String, id: String), putImage(bundleID: String, id: String)
    case deleteImage(bundleID: String, id: String)
    case listAudit
    case createApp, readApp(bundleID: String), changeApp(bundleID: String)
    case readSharedSecret(bundleID: String), makeSharedSecret(bundleID: String)
    case listVersions(bundleID: String), createVersion(bundleID: String)
    case changeVersion(bundleID: String, version: String)
    case listProducts(bundleID: String), createProduct(bundleID: String)
    case readProduct(bundleID: String, id: String), changeProduct(bundleID: String, id: String)
    case removeProduct(bundleID: String, id: String), why(bundleID: String, id: String)
    case listGroups(bundleID: String), createGroup(bundleID: String)
    case changeGroup(bundleID: String, id: String), removeGroup(bundleID: String, id: String)
    case listOffers(bundleID: String, product: String)
    case addOffer(bundleID: String, product: String)
    case removeOffer(bundleID: String, product: String, kind: String, name: String)
    case revokeServerKey(id: String)
}

extension Entry {
    /// The addresses of apps' catalogues and their administration.
    static let catalogue: [Entry] = administration + subscriptions

    private static let subscriptions: [Entry] = [
        entry("GET", "/apps/{}/groups") { .listGroups(bundleID: $0[0]) },
        entry("POST", "/apps/{}/groups") { .createGroup(bundleID: $0[0]) },
        entry("PATCH", "/apps/{}/groups/{}") { .changeGroup(bundleID: $0[0], id: $0[1]) },
        entry("DELETE", "/apps/{}/groups/{}") { .removeGroup(bundleID: $0[0], id: $0[1]) },
        entry("GET", "/apps/{}/products/{}/offers") {
            .listOffers(bundleID: $0[0], product: $0[1])
        },
        entry("POST", "/apps/{}/products/{}/offers") {
            .addOffer(bundleID: $0[0], product: $0[1])
        },
        entry("DELETE", "/apps/{}/products/{}/offers/{}/{}") {
            .removeOffer(bundleID: $0[0], product: $0[1], kind: $0[2], name: $0[3])
        },
    ]

    private static let administration: [Entry] = [
        entry("GET", "/apps/{}/catalogue") { .read(bundleID: $0[0]) },
        entry("PUT", "/apps/{}/catalogue") { .put(bundleID: $0[0]) },
        entry("GET", "/apps/{}/images/{}") { .readImage(bundleID: $0[0], id: $0[1]) },
        entry("PUT", "/apps/{}/images/{}") { .putImage(bundleID: $0[0], id: $0[1]) },
        entry("DELETE", "/apps/{}/images/{}") { .deleteImage(bundleID: $0[0], id: $0[1]) },
        entry("GET", "/audit") { _ in .listAudit },
        entry("POST", "/apps") { _ in .createApp },
        entry("GET", "/apps/{}") { .readApp(bundleID: $0[0]) },
        entry("PATCH", "/apps/{}") { .changeApp(bundleID: $0[0]) },
        entry("GET", "/apps/{}/shared-secret") { .readSharedSecret(bundleID: $0[0]) },
        entry("POST", "/apps/{}/shared-secret") { .makeSharedSecret(bundleID: $0[0]) },
        entry("GET", "/apps/{}/versions") { .listVersions(bundleID: $0[0]) },
        entry("POST", "/apps/{}/versions") { .createVersion(bundleID: $0[0]) },
        entry("PATCH", "/apps/{}/versions/{}") {
            .changeVersion(bundleID: $0[0], version: $0[1])
        },
        entry("GET", "/apps/{}/products") { .listProducts(bundleID: $0[0]) },
        entry("POST", "/apps/{}/products") { .createProduct(bundleID: $0[0]) },
        entry("GET", "/apps/{}/products/{}") { .readProduct(bundleID: $0[0], id: $0[1]) },
        entry("PATCH", "/apps/{}/products/{}") { .changeProduct(bundleID: $0[0], id: $0[1]) },
        entry("DELETE", "/apps/{}/products/{}") { .removeProduct(bundleID: $0[0], id: $0[1]) },
        entry("GET", "/apps/{}/products/{}/why") { .why(bundleID: $0[0], id: $0[1]) },
        entry("DELETE", "/server-keys/{}") { .revokeServerKey(id: $0[0]) },
    ]

    /// An address at the operators' door. Ids may contain `%xx` for characters
    /// that an address cannot contain.
    private static func entry(
        _ method: String, _ path: String,
        _ make: @escaping @Sendable ([String]) -> CatalogueRoute
    ) -> Entry {
        Entry(method, "/operator/v1" + path) { parts in
            .catalogue(make(parts.map { $0.removingPercentEncoding ?? $0 }))
        }
    }
}
