// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import StoreWire

struct SessionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session", abstract: "Devices that are signed in.",
        subcommands: [List.self, Revoke.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the sessions.")

        @Option(name: .long, help: "Only the sessions of this sign-in name.") var customer: String?
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let door = try store.store().operatorDoor
            let only = try await customer.asyncMap { try await CustomerCommand.find($0, door) }
            var sessions: [SessionSummary] = []
            var after: String?
            repeat {
                let query = [
                    only.map { "customer=\($0.customerId)" }, after.map { "after=\($0)" },
                ].compactMap { $0 }.joined(separator: "&")
                let page = try await door.get("/sessions?" + query, as: SessionList.self)
                sessions += page.sessions
                after = page.next
            } while after != nil
            try printing.show(sessions, lines: Output.table(sessions.map(Self.row)))
        }

        private static func row(_ session: SessionSummary) -> [String] {
            [
                session.sessionId, session.bundleId, session.deviceName ?? session.deviceUUID,
                "used \(session.lastUsedDate)",
                session.endedDate.map { "ended \($0)" } ?? "until \(session.expiresDate)",
            ]
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke",
            abstract: "End a session, or all of a customer; exits with 1 if there was none.")

        @Argument(help: "The session's id, from `session list`.") var session: String?
        @Option(name: .long, help: "All sessions of this sign-in name.") var customer: String?
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let door = try store.store().operatorDoor
            let path: String
            switch (session, customer) {
            case (let session?, nil):
                let plain = CharacterSet.alphanumerics.union(["-"])
                path =
                    "/sessions/"
                    + (session.addingPercentEncoding(withAllowedCharacters: plain) ?? "")
            case (nil, let name?):
                path =
                    "/customers/\(try await CustomerCommand.find(name, door).customerId)/sessions"
            default:
                throw Failure(
                    .usage, "sessionUnclear", "Which session is meant?", field: "SESSION",
                    rule: "one of SESSION and --customer", remedy: "give one of them")
            }
            let ended = try await door.delete(path, as: SessionsEnded.self)
            try printing.show(ended, "\(ended.ended) ended.")
            if ended.ended == 0 { throw ExitCode(ExitStatus.no.rawValue) }
        }
    }
}

extension Optional where Wrapped: Sendable {
    /// `map` with an asynchronous closure.
    func asyncMap<Answer>(
        _ transform: (Wrapped) async throws -> Answer
    ) async throws -> Answer? {
        guard let self else { return nil }
        return try await transform(self)
    }
}
