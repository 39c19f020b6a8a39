// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Hummingbird
import Shop
import StoreWire

/// Serves subscription groups and offers.
extension CatalogueDoor {
    func administerSubscription(_ route: CatalogueRoute) async throws -> Response {
        switch route {
        case .listGroups(let app): return try .json(try await realm.groups(app))
        case .createGroup(let app):
            let request = try await call.body(CreateGroupRequest.self)
            return try .json(
                try await realm.createGroup(request, bundleID: app, call.context), status: 201)
        case .changeGroup(let app, let id):
            let change = try await call.body(GroupChange.self)
            return try .json(
                try await realm.changeGroup(id, bundleID: app, change, call.context))
        case .removeGroup(let app, let id):
            try await realm.removeGroup(id, bundleID: app, call.context)
            return .empty(status: 204)
        case .listOffers(let app, let product):
            return try .json(try await realm.offers(product, bundleID: app))
        case .addOffer(let app, let product):
            let request = try await call.body(OfferRecord.self)
            return try .json(
                try await realm.addOffer(
                    request, product: product, bundleID: app, call.context), status: 201)
        case .removeOffer(let app, let product, let kind, let name):
            try await realm.removeOffer(
                name, kind: kind, product: product, bundleID: app, call.context)
            return .empty(status: 204)
        default: throw RequestMistake.unknownPath
        }
    }
}
