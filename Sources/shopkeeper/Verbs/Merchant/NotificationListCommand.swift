// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Shop
import StoreWire

/// What was sent to an app's server.
struct NotificationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notification", abstract: "Notifications that were sent.",
        subcommands: [List.self, Show.self, Resend.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List an app's notifications, oldest first (default).")
        @Flag(help: "Only those that have not arrived.") var failed = false
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            var found: [NotificationRecord] = []
            var after: String?
            repeat {
                let query = [failed ? "onlyFailures=true" : nil, after.map { "after=\($0)" }]
                    .compactMap { $0 }.joined(separator: "&")
                let page = try await store.operatorDoor.get(
                    "/apps/\(bundleID)/notifications?" + query, as: NotificationRecords.self)
                found += page.notifications
                after = page.next
            } while after != nil
            try printing.show(found, lines: Output.table(found.map(\.cells)))
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show a notification.")
        @Argument(help: "The notification's UUID.") var uuid: String
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            let found = try await store.operatorDoor.get(
                "/apps/\(bundleID)/notifications/\(DoorClient.part(uuid))",
                as: NotificationRecord.self)
            try printing.show(
                found,
                lines: Output.table([found.cells])
                    + found.sendAttempts.map {
                        "\($0.attemptDate.map { "\($0)" } ?? "")  "
                            + ($0.sendAttemptResult?.rawValue ?? "")
                    } + [found.signedPayload])
        }
    }

    struct Resend: AsyncParsableCommand {
        private struct Answer: Encodable {
            let notificationUUID: String
            let sendAttemptResult: String
            let status: Int?
        }

        static let configuration = CommandConfiguration(
            commandName: "resend",
            abstract: "Post the same bytes again, once, and record the result.",
            discussion: """
                An attempt at the app's notification URL is in the history, and one that \
                succeeds ends the store's own attempts. One at --to is in the audit only.
                """)
        @Argument(help: "The notification's UUID.") var uuid: String
        @Option(help: "The URL to post it to; default: the app's notification URL.")
        var to: String?
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            let found = try await store.operatorDoor.get(
                "/apps/\(bundleID)/notifications/\(DoorClient.part(uuid))",
                as: NotificationRecord.self)
            let delivery = try await store.post(
                found.signedPayload, id: found.notificationUUID, of: bundleID, to: to)
            try printing.show(
                Answer(
                    notificationUUID: found.notificationUUID,
                    sendAttemptResult: delivery.result.rawValue, status: delivery.status),
                delivery.words)
            if delivery.result != .success { throw ExitCode(ExitStatus.no.rawValue) }
        }
    }
}

extension RunningStore {
    /// Posts a signed notification from this process, once, and has the store record the
    /// result. `url` is the app's if it is nil.
    func post(
        _ signedPayload: String, id: String, of bundleID: String, to url: String?
    ) async throws -> Delivery {
        var target = url
        if target == nil {
            let apps = try await operatorDoor.get("/apps", as: AppList.self).apps
            let app = apps.first { $0.bundleId == bundleID }
            guard app?.notificationVersion != 1 else {
                throw Failure(
                    .no, "notificationVersionOne",
                    "This app's notifications are of version 1, and only version 2 is posted by "
                        + "hand.", field: "--to",
                    rule: "an app with version 2, or --to",
                    remedy: "cause an event, name a URL with --to, or set the app's again "
                        + "without --v1")
            }
            target = app?.notificationUrl
        }
        guard let address = target else {
            throw Failure(
                .no, "notificationUrlMissing", "This app's notifications go nowhere.",
                rule: "an app that has a notification URL, or --to",
                remedy: "name a URL with --to, or set one with `app notification-url URL`")
        }
        let body = Array(try JSONEncoder().encode(ResponseBodyV2(signedPayload: signedPayload)))
        let delivery = await LiveCourier().deliver(
            Parcel(url: address, body: body, id: id, isProduction: false))
        let report = NotificationAttemptReport(
            sendAttemptResult: delivery.result, status: delivery.status, url: url)
        do {
            _ = try await operatorDoor.post(
                "/apps/\(bundleID)/notifications/\(DoorClient.part(id))/attempts", report,
                as: NotificationRecord.self)
        } catch let failure as Failure where failure.error.code == "bundleIdUnknown" {
            // The app need not exist. The audit has what was signed.
        }
        return delivery
    }
}

extension Delivery {
    /// The result in words.
    var words: String { result == .success ? "Delivered." : "Not delivered: \(result)." }
}

extension NotificationRecord {
    fileprivate var cells: [String] {
        let last = sendAttempts.last?.sendAttemptResult?.rawValue ?? "not sent"
        return [
            notificationUUID, notificationType + (subtype.map { "/\($0)" } ?? ""), "\(signedDate)",
            last, sendAttempts.count > 1 ? "\(sendAttempts.count) attempts" : "",
        ]
    }
}
