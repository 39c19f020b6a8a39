// SPDX-License-Identifier: Apache-2.0

import Foundation
import Shop
import StoreWire
import Testing

/// Notifications as operators and merchants' servers ask for them over HTTP.
@Suite(.timeLimit(.minutes(5))) struct NotificationDoorTests {
    private let app = "/operator/v1/apps/\(TestServer.bundleID)/notification-url"

    @Test func `an operator sets a URL, and a merchant asks for a test`() async throws {
        try await TestServer.with { server in
            let key = try await server.store.doorKey(.operator)
            let bearer = try await server.bearerToken()
            let test = "/inApps/v1/notifications/test"
            let without = try await server.send("POST", test, bearer: bearer)

            let set = try await server.send(
                "PUT", app, Array(#"{"notificationUrl":"http://127.0.0.1:9/"}"#.utf8), bearer: key)
            let asked = try await server.send("POST", test, bearer: bearer)
            let token = try asked.decoded(SendTestNotificationResponse.self).testNotificationToken
            let early = try await server.send("GET", "\(test)/\(token)", bearer: bearer)
            let status = try await server.send(
                "GET", "/operator/v1/notifications/\(token)?bundleId=\(TestServer.bundleID)",
                bearer: key)

            #expect(try without.decoded(AppleErrorResponse.self).errorCode == 4_040_007)
            #expect(try set.decoded(AppSummary.self).notificationUrl == "http://127.0.0.1:9/")
            #expect(asked.status == 200)
            #expect(try early.decoded(AppleErrorResponse.self).errorCode == 4_040_008)
            #expect(try status.decoded(NotificationStatus.self).sendAttempts.isEmpty)
        }
    }

    @Test func `a history is asked for with a body`() async throws {
        try await TestServer.with { server in
            let bearer = try await server.bearerToken()
            let path = "/inApps/v1/notifications/history"
            let now = Int64(Date().timeIntervalSince1970 * 1000)
            let question = #"{"startDate":\#(now - 60_000),"endDate":\#(now + 60_000)}"#

            let found = try await server.send("POST", path, Array(question.utf8), bearer: bearer)
            let spoilt = try await server.send(
                "POST", path + "?paginationToken=x", Array(question.utf8), bearer: bearer)
            let empty = try await server.send("POST", path, bearer: bearer)
            let nobody = try await server.send("POST", path, Array(question.utf8))

            #expect(found.status == 200)
            #expect(found.text == #"{"hasMore":false,"notificationHistory":[]}"#)
            #expect(try spoilt.decoded(AppleErrorResponse.self).errorCode == 4_000_014)
            #expect(try empty.decoded(AppleErrorResponse.self).errorCode == 4_000_000)
            #expect(nobody.status == 401 && nobody.body.isEmpty)
        }
    }

    @Test func `a production realm takes HTTPS alone`() async throws {
        try await TestServer.with { server in
            let key = try await server.store.doorKey(.operator)
            func set(_ url: String) async throws -> Reply {
                try await server.send(
                    "PUT", "/realms/live" + app, Array(#"{"notificationUrl":"\#(url)"}"#.utf8),
                    bearer: key)
            }

            #expect(try await set("http://example.com/").error?.code == "notificationUrlInvalid")
            #expect(try await set("https://example.com/").status == 200)
            #expect(try await set("https://example.com:22/").status == 400)
            for host in [
                "10.0.0.7", "127.1", "2130706433", "0x7f000001", "0x7f.1", "[::1]", "[fd00::7]",
                "169.254.169.254", "localhost", "shop.localhost", "LEDGER", "ledger.internal",
                "printer.local.", "a..b", "8.8.8.8",
            ] {
                let reply = try await set("https://\(host)/n")
                #expect(reply.status == 400, "\(host)")
                #expect(reply.error?.code.hasPrefix("notificationUrl") == true, "\(host)")
                #expect(reply.error?.remedy != nil, "\(host)")
            }
            #expect(
                try await set("https://192.168.0.1/").error?.code == "notificationUrlPrivate")
            #expect(try await set("https://ledger.example.com.:8443/n").status == 200)
        }
    }

    @Test func `an operator's verbs want the operator's key`() async throws {
        try await TestServer.with { server in
            let control = try await server.store.doorKey(.control)
            for (method, path) in [
                ("GET", "/operator/v1/apps"), ("PUT", app), ("POST", "/operator/v1/notifications"),
                ("GET", "/operator/v1/notifications/x"),
            ] {
                #expect(try await server.send(method, path).status == 401)
                #expect(try await server.send(method, path, bearer: control).status == 403)
            }
        }
    }
}
