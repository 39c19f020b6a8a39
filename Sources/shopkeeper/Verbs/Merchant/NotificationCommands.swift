// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Live
import Shop
import StoreWire

struct NotifyCommand: AsyncParsableCommand {
    private struct Answer: Encodable {
        let testNotificationToken: String
        var sendAttemptResult: String?
    }

    static let configuration = CommandConfiguration(
        commandName: "notify",
        abstract: "Send a notification by hand, and report the result.",
        discussion: """
            TEST without --to goes through the store like every other, and is in the history. \
            Any other type, such as DID_RENEW or EXPIRED/VOLUNTARY, is signed for a transaction \
            of a sandbox, or an invented one, and posted once to --to or the app's notification \
            URL. The app need not exist, and the type must be one that Apple sends about such a \
            product. No purchase changes. The audit has what was signed, and the history the \
            attempt, if it went to the URL of an app of the store. Every type also follows its \
            event, as `shopkeeper buy` sends a ONE_TIME_CHARGE.
            """)

    @Argument(help: "The type, with the subtype behind a slash: EXPIRED/VOLUNTARY.")
    var type: String
    @Option(name: .long, help: "The app; default: the served one.") var bundleId: String?
    @Option(help: "The transaction that it is about; default: an invented one.")
    var transaction: String?
    @Option(help: "The product of an invented transaction.") var product: String?
    @Option(help: "The URL to post it to; default: the app's notification URL.") var to: String?
    @Flag(name: .long, help: "Do not wait for the end of the first attempt of a TEST.")
    var noWait = false
    @Option(name: .long, help: "The most seconds to wait.") var timeout = TimeLimit(30.0)
    @OptionGroup var store: StoreOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        if type == NotificationKind.test {
            for (name, value) in [("--transaction", transaction), ("--product", product)]
            where value != nil {
                throw Failure(
                    .usage, "transactionUnused", "A TEST is about no transaction.", field: name,
                    rule: "a type such as DID_RENEW", remedy: "leave \(name) out")
            }
        }
        let found = try store.store()
        let bundleID = bundleId ?? found.run.bundleId
        guard type == NotificationKind.test, to == nil else {
            return try await HandNotification(command: self, store: found, bundleID: bundleID)
                .send()
        }
        let token = try await found.operatorDoor.post(
            "/notifications",
            SendNotificationRequest(bundleId: bundleID, notificationType: type),
            as: SendTestNotificationResponse.self
        ).testNotificationToken
        if noWait {
            return try printing.show(
                Answer(testNotificationToken: token), "The store sends it: \(token)")
        }
        let result = try await result(of: token, bundleID, found)
        try printing.show(
            Answer(testNotificationToken: token, sendAttemptResult: result.rawValue),
            result == .success ? "Delivered." : "Not delivered: \(result).")
        if result != .success { throw ExitCode(ExitStatus.no.rawValue) }
    }

    private func result(
        of token: String, _ bundleID: String, _ found: RunningStore
    ) async throws -> SendAttemptResult {
        let end = Live.monotonic() + timeout.duration
        while Live.monotonic() < end {
            let told = try await found.operatorDoor.get(
                "/notifications/\(token)?bundleId=\(bundleID)", as: NotificationStatus.self)
            if let last = told.sendAttempts.last?.sendAttemptResult { return last }
            try await Live.sleep(.milliseconds(50))
        }
        throw Failure(
            .no, "notTriedYet", "The store has not tried to send it in \(timeout) seconds.",
            remedy: "look into the store's log, or wait longer with --timeout")
    }
}

/// A notification that the store signs and this process posts.
private struct HandNotification {
    private struct Answer: Encodable {
        let notificationUUID: String
        let sendAttemptResult: String
        let status: Int?
    }

    let command: NotifyCommand
    let store: RunningStore
    let bundleID: String

    func send() async throws {
        let parts = command.type.split(
            separator: "/", maxSplits: 1, omittingEmptySubsequences: false
        ).map(String.init)
        let signed = try await store.controlDoor.post(
            "/notifications",
            SignNotificationRequest(
                bundleId: bundleID, notificationType: parts[0],
                subtype: parts.count > 1 ? parts[1] : nil, transactionId: command.transaction,
                productId: command.product), as: SignedNotification.self)
        let delivery = try await store.post(
            signed.signedPayload, id: signed.notificationUUID, of: bundleID, to: command.to)
        try command.printing.show(
            Answer(
                notificationUUID: signed.notificationUUID,
                sendAttemptResult: delivery.result.rawValue, status: delivery.status),
            delivery.words)
        if delivery.result != .success { throw ExitCode(ExitStatus.no.rawValue) }
    }
}

struct ListenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen",
        abstract: "Receive notifications, verify, print and forward them.",
        discussion: """
            Start it, and then point a store to it: `shopkeeper app notification-url \
            http://127.0.0.1:4790/` or `shopkeeper serve --notify http://127.0.0.1:4790/`.
            """)

    @Option(name: .long, help: "The port to listen at on loopback; 0 for any free one.")
    var port = 4790
    @Option(name: .long, help: "A URL to forward every body to; its status is the answer.")
    var forwardTo: String?
    @Option(name: .long, help: "The root certificate to trust; default: the running store's.")
    var root: [String] = []
    @OptionGroup var store: StoreOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        guard (0...65_535).contains(port) else {
            throw Failure(
                .usage, "portInvalid", "There is no port \(port).", field: "--port",
                rule: "0 (any free one) to 65535")
        }
        let verifying = try Verifying(files: root, store: store)
        let json = printing.json
        let listener = Listener(
            port: port, forwardTo: forwardTo,
            verifying: {
                await verifying.look()
                return verifying
            },
            heard: { heard in
                Output.answer(json ? (try? heard.line()) ?? "{}" : heard.words)
            })
        try await listener.run { port in
            let url = "http://127.0.0.1:\(port)/"
            Output.answer(json ? "{\"url\":\"\(url)\"}" : "Listening at \(url)")
        }
    }
}
