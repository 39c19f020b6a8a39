// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// `serve --notify`, `listen`, `notify` and `app`, as processes.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct NotificationTests {
    private struct Heard: Decodable {
        struct Notification: Decodable {
            let notificationType: String
            let notificationUUID: String
        }

        struct Transaction: Decodable {
            let transactionId: String
            let productId: String
        }

        let isVerified: Bool
        let problem: String?
        let notification: Notification?
        let transaction: Transaction?
        let forwardStatus: Int?
        let forwardProblem: String?
    }

    /// `shopkeeper listen --json` as it runs.
    private struct Listener {
        private struct Announcement: Decodable { let url: String }

        let child: ChildProcess
        let url: String
        private let lines: AsyncStream<String>

        init(_ rig: Rig, _ options: String...) async throws {
            child = try ChildProcess(
                ["shopkeeper", "listen", "--port", "0", "--json"] + options,
                environment: rig.environment, folder: URL(fileURLWithPath: rig.folder.path))
            lines = child.lines
            let first = try #require(await child.line(with: "url"))
            url = try JSONDecoder().decode(Announcement.self, from: Data(first.utf8)).url
        }

        func next() async throws -> Heard {
            for await line in lines {
                return try JSONDecoder().decode(Heard.self, from: Data(line.utf8))
            }
            throw Unexpected(await child.outcome().errors)
        }
    }

    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    @Test func `a listener prints what a store sends, checked`() async throws {
        let listener = try await Listener(rig)
        defer { listener.child.kill(SIGTERM) }
        let store = try await rig.serve("--notify", listener.url)
        defer { store.kill(SIGTERM) }

        let sent = try await rig.object("notify", "TEST")
        let test = try await listener.next()
        let bought = try await rig.object("buy", "com.example.monkeycredits.credits5")
        let sale = try await listener.next()

        #expect(sent["sendAttemptResult"] as? String == "SUCCESS")
        #expect(test.isVerified && test.notification?.notificationType == "TEST")
        #expect(sale.isVerified && sale.notification?.notificationType == "ONE_TIME_CHARGE")
        #expect(sale.transaction?.transactionId == bought["transactionId"] as? String)
    }

    @Test func `what is forwarded is answered as the other did`() async throws {
        // The other trusts no root here, so that it refuses what comes.
        let other = try await Listener(rig, "--root", try await otherRoot())
        defer { other.child.kill(SIGTERM) }
        let listener = try await Listener(rig, "--forward-to", other.url)
        defer { listener.child.kill(SIGTERM) }
        let store = try await rig.serve("--notify", listener.url)
        defer { store.kill(SIGTERM) }

        let sent = try await rig.run("shopkeeper", "notify", "TEST")
        let heard = try await listener.next()
        let passedOn = try await other.next()

        #expect(sent.status == 1)
        #expect(sent.output.contains("UNSUCCESSFUL_HTTP_RESPONSE_CODE"))
        #expect(heard.isVerified && heard.forwardStatus == 400)
        #expect(!passedOn.isVerified && passedOn.problem?.contains("root") == true)
    }

    @Test func `an app's URL is shown, changed and removed`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }

        let none = try await rig.object("app", "notification-url")
        let set = try await rig.object("app", "notification-url", "http://127.0.0.1:9/n")
        let listed = try await rig.list("app", "list")
        let wrong = try await rig.run("shopkeeper", "app", "notification-url", "nowhere")
        let taken = try await rig.object("app", "notification-url", "--none")
        let test = try await rig.run("shopkeeper", "notify", "TEST", "--json")

        #expect(none["notificationUrl"] == nil && taken["notificationUrl"] == nil)
        #expect(set["notificationUrl"] as? String == "http://127.0.0.1:9/n")
        #expect(listed.first?["notificationUrl"] as? String == "http://127.0.0.1:9/n")
        #expect(wrong.status == 1 && wrong.errors.contains("field:  notificationUrl"))
        #expect(test.status == 1 && test.errors.contains("notificationUrlMissing"))
    }

    @Test func `any type is sent by hand, also for an app that is not there`() async throws {
        let listener = try await Listener(rig)
        defer { listener.child.kill(SIGTERM) }
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }

        let sent = try await rig.object(
            "notify", "EXPIRED/VOLUNTARY", "--to", listener.url, "--product", "paper",
            "--bundle-id", "com.example.none")
        let heard = try await listener.next()

        #expect(sent["sendAttemptResult"] as? String == "SUCCESS")
        #expect(heard.notification?.notificationType == "EXPIRED")
        #expect(heard.transaction?.productId == "paper")
    }

    @Test func `what was sent is listed, shown and sent again`() async throws {
        let listener = try await Listener(rig)
        defer { listener.child.kill(SIGTERM) }
        let store = try await rig.serve("--notify", listener.url)
        defer { store.kill(SIGTERM) }
        _ = try await rig.object("notify", "TEST")
        let first = try await listener.next()

        let listed = try await rig.list("notification", "list")
        let uuid = try #require(listed.first?["notificationUUID"] as? String)
        let shown = try await rig.object("notification", "show", uuid)
        let sent = try await rig.object("notification", "resend", uuid)
        let again = try await listener.next()

        #expect(listed.count == 1 && uuid == first.notification?.notificationUUID)
        #expect(shown["notificationType"] as? String == "TEST")
        #expect(sent["sendAttemptResult"] as? String == "SUCCESS")
        #expect(again.notification?.notificationUUID == uuid)
        #expect(try await rig.list("notification", "list", "--failed").isEmpty)
    }

    @Test func `a type that there is not is refused with a sentence`() async throws {
        let store = try await rig.serve("--notify", "http://127.0.0.1:9/")
        defer { store.kill(SIGTERM) }

        let refund = try await rig.run("shopkeeper", "notify", "REFUND", "--json")
        let unknown = try await rig.run("shopkeeper", "notify", "HELLO", "--json")
        let dead = try await rig.run("shopkeeper", "notify", "TEST")

        #expect(refund.status == 1 && refund.output.contains("NO_RESPONSE"))
        #expect(unknown.status == 1 && unknown.errors.contains("notificationTypeUnknown"))
        #expect(dead.status == 1 && dead.output.contains("NO_RESPONSE"))
    }

    @Test func `a store killed while it sends sends the same again`() async throws {
        let peer = try ScriptedPeer(.silence, .answer(ScriptedPeer.response("200 OK")))
        var heard = peer.heardRequests.makeAsyncIterator()
        let store = try await rig.serve("--notify", peer.url)
        _ = try await rig.object("buy", "com.example.monkeycredits.credits5")
        let first = try #require(await heard.next())

        store.kill(SIGKILL)
        _ = await store.outcome()
        let again = try await rig.serve()
        defer { again.kill(SIGTERM) }
        let second = try #require(await heard.next())

        #expect(Self.body(of: first) == Self.body(of: second))
        #expect(Self.body(of: first).contains("signedPayload"))
    }

    private static func body(of request: String) -> String {
        request.components(separatedBy: "\r\n\r\n").dropFirst().joined()
    }

    @Test func `Apple's library asks for notifications and reads them`() async throws {
        let outcome = try await rig.run(
            "shopkeeper", "exec", "--", try Rig.python(),
            try PackageRoot.path() + "/Tests/Peers/exec_notifications.py")

        #expect(outcome.status == 0, "\(outcome.output) \(outcome.errors)")
        let checks = try JSONDecoder().decode(
            [String: Bool].self, from: Data(outcome.output.utf8))
        #expect(checks.count == 16)
    }

    private func otherRoot() async throws -> String {
        let path = rig.path("other.pem")
        let made = try await rig.run(
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes", "-keyout", rig.path("other.key"), "-out", path, "-subj", "/CN=other",
            "-days", "2")
        try #require(made.status == 0, "\(made.errors)")
        return path
    }
}
