// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Shop
import StoreWire
import StrictJSON

/// The operators' door, about apps, their keys and their catalogue files.
extension Routes {
    static let apps: [Route] = [
        Route("GET", "/operator/v1/apps", .realm(.operator)) {
            try .json(AppList(apps: try await $0.realm.catalogue.appSummaries()))
        },
        Route("POST", "/operator/v1/apps", .realm(.operator)) {
            try .created(try await $0.realm.catalogue.createApp(try await $0.body(), $0.context))
        },
        Route("GET", "/operator/v1/apps/{}", .realm(.operator)) {
            try .json(try await $0.realm.catalogue.appSummary($0.parts[0]))
        },
        Route("PATCH", "/operator/v1/apps/{}", .realm(.operator)) {
            try .json(
                try await $0.realm.catalogue.changeApp($0.parts[0], try await $0.body(), $0.context)
            )
        },
        Route("GET", "/operator/v1/apps/{}/shared-secret", .realm(.operator)) {
            try .json(try await $0.realm.catalogue.sharedSecret($0.parts[0]))
        },
        Route("POST", "/operator/v1/apps/{}/shared-secret", .realm(.operator)) {
            // A request without a body generates one.
            let body = try await $0.call.bodyBytes()
            let given =
                body.isEmpty ? nil : try StrictJSON.decode(SharedSecretRequest.self, from: body)
            return try .created(
                try await $0.realm.catalogue.makeSharedSecret(
                    $0.parts[0], given: given?.sharedSecret, $0.context))
        },
        Route("GET", "/operator/v1/apps/{}/notifications", .realm(.operator)) {
            try .json(
                try await $0.realm.merchant.notifications(
                    ofApp: $0.parts[0], onlyFailures: $0.query("onlyFailures") == "true",
                    after: $0.query("after"), limit: try $0.limit()))
        },
        Route("GET", "/operator/v1/apps/{}/notifications/{}", .realm(.operator)) {
            try .json(
                try await $0.realm.merchant.notification($0.parts[1], ofApp: $0.parts[0]))
        },
        Route("POST", "/operator/v1/apps/{}/notifications/{}/attempts", .realm(.operator)) {
            try .created(
                try await $0.realm.merchant.recordAttempt(
                    try await $0.body(), of: $0.parts[1], ofApp: $0.parts[0], $0.context))
        },
        Route("PUT", "/operator/v1/apps/{}/notification-url", .realm(.operator)) {
            let request = try await $0.body(SetNotificationURLRequest.self)
            return try .json(
                try await $0.realm.catalogue.setNotificationURL(
                    request.notificationUrl, version: request.notificationVersion ?? 2,
                    bundleID: $0.parts[0], $0.context))
        },
        Route("POST", "/operator/v1/notifications", .realm(.operator)) {
            try .json(
                try await $0.realm.merchant.sendNotification(try await $0.body(), $0.context),
                status: 202)
        },
        Route("GET", "/operator/v1/notifications/{}", .realm(.operator)) {
            try .json(
                try await $0.realm.merchant.notificationStatus(
                    $0.parts[0], bundleID: $0.query("bundleId") ?? ""))
        },
        Route("GET", "/operator/v1/server-keys", .realm(.operator)) {
            try .json(ServerKeyList(serverKeys: try await $0.realm.merchant.serverKeys()))
        },
        Route("POST", "/operator/v1/server-keys", .realm(.operator)) {
            let request = try await $0.body(CreateServerKeyRequest.self)
            return try .created(
                try await $0.realm.merchant.createServerKey(bundleID: request.bundleId, $0.context))
        },
        Route("DELETE", "/operator/v1/server-keys/{}", .realm(.operator)) {
            try await $0.realm.merchant.revokeServerKey($0.parts[0], $0.context)
            return .done
        },
        Route("GET", "/operator/v1/apps/{}/catalogue", .realm(.operator)) {
            try await CatalogueDoor($0).read($0.parts[0])
        },
        Route("PUT", "/operator/v1/apps/{}/catalogue", .realm(.operator)) {
            try await CatalogueDoor($0).put($0.parts[0])
        },
        Route("GET", "/operator/v1/apps/{}/images/{}", .realm(.operator)) {
            .bytes(
                try await $0.realm.catalogue.image($0.parts[1], bundleID: $0.parts[0]),
                type: "image/png")
        },
        Route("PUT", "/operator/v1/apps/{}/images/{}", .realm(.operator)) {
            let bytes = try await $0.call.bodyBytes(max: CatalogueRoom.imageBytesMax)
            try await $0.realm.catalogue.putImage(
                $0.parts[1], bundleID: $0.parts[0], bytes, $0.context)
            return .done
        },
        Route("DELETE", "/operator/v1/apps/{}/images/{}", .realm(.operator)) {
            try await CatalogueDoor($0).deleteImage($0.parts[1], of: $0.parts[0])
        },
        Route("GET", "/operator/v1/apps/{}/versions", .realm(.operator)) {
            try .json(try await $0.realm.catalogue.appVersions($0.parts[0]))
        },
        Route("POST", "/operator/v1/apps/{}/versions", .realm(.operator)) {
            try .created(
                try await $0.realm.catalogue.createAppVersion(
                    try await $0.body(), bundleID: $0.parts[0], $0.context))
        },
        Route("PATCH", "/operator/v1/apps/{}/versions/{}", .realm(.operator)) {
            try .json(
                try await $0.realm.catalogue.changeAppVersion(
                    $0.parts[1], bundleID: $0.parts[0], try await $0.body(), $0.context))
        },
    ]
}
