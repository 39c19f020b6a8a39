// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import StoreWire

struct LedgerWebhookCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhook", abstract: "Messages to the merchant's servers.",
        subcommands: [List.self, Replay.self, Park.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the messages, newest first.")

        @Option(name: .long, help: "waiting, sent or parked; default: all.") var state: String?
        @Option(name: .long, help: "Only those to this URL.") var url: String?
        @Option(name: .long, help: "The most messages.") var limit = 100
        @OptionGroup var ledger: LedgerOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let door = try ledger.door()
            var messages: [WebhookReport] = []
            var after: String?
            repeat {
                let query = [
                    ("state", state), ("url", url), ("after", after),
                    ("limit", "\(min(100, max(1, limit - messages.count)))"),
                ].compactMap { name, value in value.map { "\(name)=\(DoorClient.part($0))" } }
                let page = try await door.get(
                    "/webhooks?\(query.joined(separator: "&"))", as: WebhookReports.self)
                messages += page.webhooks
                after = page.next
            } while after != nil && messages.count < limit
            try printing.show(
                messages,
                lines: Output.table(
                    messages.map {
                        [
                            "\($0.createdDate)", $0.messageId, $0.type, $0.state, $0.url,
                            $0.trouble ?? "",
                        ]
                    }))
        }
    }

    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "replay",
            abstract: "Send messages again: those named, or all that are parked.")

        @Argument(help: "The URL.") var url: String
        @Argument(help: "The messages' ids.") var messageIds: [String] = []
        @OptionGroup var ledger: LedgerOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let changed = try await ledger.door().post(
                "/webhooks/replay",
                WebhooksRequest(url: url, messageIds: messageIds.isEmpty ? nil : messageIds),
                as: WebhooksChanged.self)
            try printing.show(changed, "\(changed.changed) messages will be sent again.")
        }
    }

    struct Park: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "park", abstract: "Park messages that wait, so that they are not sent.")

        @Argument(help: "The URL.") var url: String
        @Argument(help: "The messages' ids.") var messageIds: [String]
        @OptionGroup var ledger: LedgerOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let changed = try await ledger.door().post(
                "/webhooks/park", WebhooksRequest(url: url, messageIds: messageIds),
                as: WebhooksChanged.self)
            try printing.show(changed, "Parked \(changed.changed) messages.")
        }
    }
}
