// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Hummingbird
import Shop
import StoreWire

/// Changes apps, products and keys while the store runs.
extension CatalogueDoor {
    func administer(_ route: CatalogueRoute) async throws -> Response {
        switch route {
        case .createApp:
            let request = try await call.body(CreateAppRequest.self)
            return try .json(try await realm.createApp(request, call.context), status: 201)
        case .readApp(let app): return try .json(try await realm.appSummary(app))
        case .changeApp(let app):
            let change = try await call.body(AppChange.self)
            return try .json(try await realm.changeApp(app, change, call.context))
        case .readSharedSecret(let app): return try .json(try await realm.sharedSecret(app))
        case .makeSharedSecret(let app):
            return try .json(try await realm.makeSharedSecret(app, call.context), status: 201)
        case .revokeServerKey(let id):
            try await realm.revokeServerKey(id, call.context)
            return .empty(status: 204)
        case .listVersions, .createVersion, .changeVersion:
            return try await administerVersion(route)
        case .listGroups, .createGroup, .changeGroup, .removeGroup, .listOffers, .addOffer,
            .removeOffer:
            return try await administerSubscription(route)
        default: return try await administerProduct(route)
        }
    }

    private func administerVersion(_ route: CatalogueRoute) async throws -> Response {
        switch route {
        case .createVersion(let app):
            let request = try await call.body(CreateAppVersionRequest.self)
            return try .json(
                try await realm.createAppVersion(request, bundleID: app, call.context),
                status: 201)
        case .changeVersion(let app, let version):
            let change = try await call.body(AppVersionChange.self)
            return try .json(
                try await realm.changeAppVersion(version, bundleID: app, change, call.context))
        case .listVersions(let app): return try .json(try await realm.appVersions(app))
        default: throw RequestMistake.unknownPath
        }
    }

    private func administerProduct(_ route: CatalogueRoute) async throws -> Response {
        switch route {
        case .listProducts(let app):
            return try .json(
                try await realm.listProducts(
                    bundleID: app, after: call.query("after"), limit: try call.limit()))
        case .createProduct(let app):
            let request = try await call.body(CreateProductRequest.self)
            return try .json(
                try await realm.createProduct(request, bundleID: app, call.context), status: 201)
        case .readProduct(let app, let id):
            return try .json(try await realm.productRecord(id, bundleID: app))
        case .changeProduct(let app, let id):
            let change = try await call.body(ProductChange.self)
            return try .json(
                try await realm.changeProduct(id, bundleID: app, change, call.context))
        case .removeProduct(let app, let id):
            try await realm.removeProduct(id, bundleID: app, call.context)
            return .empty(status: 204)
        case .why(let app, let id):
            return try .json(
                try await realm.why(id, bundleID: app, storefront: call.query("storefront")))
        default: throw RequestMistake.unknownPath
        }
    }
}
