// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Shop
import StoreWire

/// The operators' door, about products, subscription groups and offers.
extension Routes {
    static let products: [Route] = [
        Route("GET", "/operator/v1/apps/{}/products", .realm(.operator)) {
            try .json(
                try await $0.realm.catalogue.listProducts(
                    bundleID: $0.parts[0], after: $0.query("after"), limit: try $0.limit()))
        },
        Route("POST", "/operator/v1/apps/{}/products", .realm(.operator)) {
            try .created(
                try await $0.realm.catalogue.createProduct(
                    try await $0.body(), bundleID: $0.parts[0], $0.context))
        },
        Route("GET", "/operator/v1/apps/{}/products/{}", .realm(.operator)) {
            try .json(
                try await $0.realm.catalogue.productRecord($0.parts[1], bundleID: $0.parts[0]))
        },
        Route("PATCH", "/operator/v1/apps/{}/products/{}", .realm(.operator)) {
            try .json(
                try await $0.realm.catalogue.changeProduct(
                    $0.parts[1], bundleID: $0.parts[0], try await $0.body(), $0.context))
        },
        Route("DELETE", "/operator/v1/apps/{}/products/{}", .realm(.operator)) {
            try await $0.realm.catalogue.removeProduct(
                $0.parts[1], bundleID: $0.parts[0], $0.context)
            return .done
        },
        Route("GET", "/operator/v1/apps/{}/products/{}/why", .realm(.operator)) {
            try .json(
                try await $0.realm.catalogue.why(
                    $0.parts[1], bundleID: $0.parts[0], storefront: $0.query("storefront")))
        },
        Route("GET", "/operator/v1/apps/{}/groups", .realm(.operator)) {
            try .json(try await $0.realm.catalogue.groups($0.parts[0]))
        },
        Route("POST", "/operator/v1/apps/{}/groups", .realm(.operator)) {
            try .created(
                try await $0.realm.catalogue.createGroup(
                    try await $0.body(), bundleID: $0.parts[0], $0.context))
        },
        Route("PATCH", "/operator/v1/apps/{}/groups/{}", .realm(.operator)) {
            try .json(
                try await $0.realm.catalogue.changeGroup(
                    $0.parts[1], bundleID: $0.parts[0], try await $0.body(), $0.context))
        },
        Route("DELETE", "/operator/v1/apps/{}/groups/{}", .realm(.operator)) {
            try await $0.realm.catalogue.removeGroup($0.parts[1], bundleID: $0.parts[0], $0.context)
            return .done
        },
        Route("GET", "/operator/v1/apps/{}/products/{}/offers", .realm(.operator)) {
            try .json(try await $0.realm.catalogue.offers($0.parts[1], bundleID: $0.parts[0]))
        },
        Route("POST", "/operator/v1/apps/{}/products/{}/offers", .realm(.operator)) {
            try .created(
                try await $0.realm.catalogue.addOffer(
                    try await $0.body(), product: $0.parts[1], bundleID: $0.parts[0], $0.context))
        },
        Route("DELETE", "/operator/v1/apps/{}/products/{}/offers/{}/{}", .realm(.operator)) {
            try await $0.realm.catalogue.removeOffer(
                $0.parts[3], kind: $0.parts[2], product: $0.parts[1], bundleID: $0.parts[0],
                $0.context)
            return .done
        },
        Route("GET", "/operator/v1/apps/{}/offer-codes", .realm(.operator)) {
            try .json(
                try await $0.realm.offers.codes(
                    ofApp: $0.parts[0], after: $0.query("after"), limit: try $0.limit()))
        },
        Route("POST", "/operator/v1/apps/{}/offer-codes", .realm(.operator)) {
            try .created(
                try await $0.realm.offers.createCodes(
                    try await $0.body(), bundleID: $0.parts[0], $0.context))
        },
        Route("POST", "/operator/v1/apps/{}/offer-codes/{}/deactivation", .realm(.operator)) {
            try .json(
                try await $0.realm.offers.deactivateCodes(
                    $0.parts[1], bundleID: $0.parts[0], $0.context))
        },
    ]
}
